use super::{Ticks, parse};

#[test]
fn the_share_that_idled_is_counted_between_two_moments() {
    let before = parse("cpu  100 0 50 800 50 0 0 0 7 0\ncpu0 1 1 1 1\n").expect("counts");
    let line = "cpu  170 0 50 825 55 0 0 0 90 0\n";
    let later = parse(line).expect("counts");
    assert_eq!(
        before,
        Ticks {
            idle: 850,
            all: 1_000
        }
    );
    assert_eq!(later.idle_percent_since(before), 30);
    assert_eq!(later.idle_percent_since(later), 0);
    assert_eq!(parse("cpu  1 2 3\n"), None);
    assert_eq!(parse("intr 1\n"), None);
}
