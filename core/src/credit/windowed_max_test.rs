use super::*;

#[expect(
    clippy::disallowed_methods,
    reason = "virtual time needs a first instant"
)]
fn start() -> Instant {
    Instant::now()
}

#[test]
fn the_largest_value_is_kept_for_a_minute_and_then_forgotten() {
    let t = start();
    let after = |seconds| t + Duration::from_secs(seconds);
    let mut windowed_max = WindowedMax::new(t);
    assert_eq!(windowed_max.get(t), 0);
    windowed_max.note(t, 70);
    windowed_max.note(after(1), 30);
    assert_eq!(windowed_max.get(after(1)), 70, "the larger one");
    windowed_max.note(after(30), 50);
    assert_eq!(windowed_max.get(after(56)), 70);
    assert_eq!(windowed_max.get(after(64)), 50, "the first is forgotten");
    assert_eq!(windowed_max.get(after(80)), 50);
    assert_eq!(windowed_max.get(after(95)), 0, "and so is the second");
    windowed_max.note(after(1000), 3);
    assert_eq!(windowed_max.get(after(1000)), 3, "nothing old comes back");
}

#[test]
fn a_clock_that_stands_still_or_goes_back_changes_nothing() {
    let t = start();
    let mut windowed_max = WindowedMax::new(t);
    windowed_max.note(t + Duration::from_secs(100), 9);
    windowed_max.note(t, 5);
    assert_eq!(windowed_max.get(t), 9);
}
