use super::*;

#[expect(
    clippy::disallowed_methods,
    reason = "virtual time needs a first instant"
)]
fn start() -> Instant {
    Instant::now()
}

#[test]
fn what_is_remembered_counts_for_a_minute_and_is_not_passed_on() {
    let t = start();
    let mut path = BdpHistory::new(t);
    path.remember(t, 500);
    assert_eq!((path.need(t), path.seen(t)), (500, 0));
    path.note(t, 300);
    assert_eq!((path.need(t), path.seen(t)), (500, 300));
    let later = t + Duration::from_secs(64);
    assert_eq!(path.need(later), 0);
    path.note(later, 700);
    assert_eq!((path.need(later), path.seen(later)), (700, 700));
}
