use super::page::verdict;
use super::{note, outcome};
use crate::page::figures::Figures;

#[test]
fn an_outcome_is_three_numbers_and_a_reason() {
    let burst = outcome("990 10 0.25 ECONNRESET: gone\n").unwrap();
    assert_eq!(
        (burst.answered, burst.failed, burst.seconds),
        (990.0, 10.0, 0.25)
    );
    assert_eq!(burst.reason, "ECONNRESET: gone");
    assert_eq!(outcome("1000 0 0.5 ").unwrap().reason, "");
    assert!(outcome("").is_none() && outcome("1 2").is_none());
}

#[test]
fn a_broken_bound_is_named() {
    let printed = |line: &str, counted: [f64; 4], bound| {
        let mut figures = Figures::default();
        let mut burst = outcome(line).unwrap();
        burst.counted = counted.to_vec();
        note(&mut figures, "s", "c", &[burst]);
        verdict(&figures, "s", "c", bound)
    };
    assert_eq!(
        printed("1000 0 0.5", [10.0, 10.0, 0.0, 0.0], Some(10)),
        "kept"
    );
    assert_eq!(
        printed("1000 0 0.5", [11.0, 10.0, 0.0, 0.0], Some(10)),
        "over 10 sockets"
    );
    assert_eq!(
        printed("999 1 0.5", [1.0, 1.0, 0.0, 0.0], Some(10)),
        "not all answered"
    );
    assert_eq!(
        printed("1000 0 0.5", [1.0, 1.0, 3.0, 1.0], Some(10)),
        "streams refused, delivered twice"
    );
    assert_eq!(printed("0 1000 2.1", [1.0, 0.0, 0.0, 0.0], None), "kept");
    assert_eq!(
        printed("1 999 9.0", [1.0, 0.0, 0.0, 0.0], None),
        "not all failed, over one connect timeout"
    );
}
