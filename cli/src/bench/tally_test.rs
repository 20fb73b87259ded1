use super::*;

#[test]
fn a_latency_counts_from_when_the_request_was_due() {
    let mut tally = Tally::new();
    for ms in 1..=100 {
        tally.answer(200, Duration::from_millis(ms));
    }
    assert_eq!(tally.answered, 100);
    assert_eq!(tally.by_class[2], 100);
    assert!(
        (tally.latency_ms(50.0) - 50.0).abs() < 0.1,
        "{}",
        tally.latency_ms(50.0)
    );
    assert!((tally.latency_ms(100.0) - 100.0).abs() < 0.2);
}

#[test]
fn failures_add_up_by_reason() {
    let mut tally = Tally::new();
    tally.fail("reset", 2);
    tally.fail("reset", 1);
    tally.fail("closed", 4);
    assert_eq!(tally.failures(), 7);
    assert_eq!(tally.failed["reset"], 3);
}

#[test]
fn a_status_counts_in_the_class_of_its_first_digit() {
    let mut tally = Tally::new();
    for status in [200, 299, 503, 599, 600, 999] {
        tally.answer(status, Duration::from_millis(1));
    }
    assert_eq!(tally.by_class, [0, 0, 2, 0, 0, 2, 1, 0, 0, 1]);
}
