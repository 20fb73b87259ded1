use super::*;
use crate::event_loop::TimerDeadlines;
use std::task::Waker;

fn polled(sleep: Pin<&mut Sleep>) -> bool {
    sleep
        .poll(&mut Context::from_waker(Waker::noop()))
        .is_ready()
}

fn earliest_of(deadlines: &TimerDeadlines) -> Option<std::time::Instant> {
    deadlines.earliest(std::time::Instant::now())
}

#[tokio::test]
async fn a_deadline_that_has_passed_counts_until_the_timers_were_looked_at_behind_it() {
    let deadlines = TimerDeadlines::new();
    let at = Instant::now() + Duration::from_millis(1);
    let mut sleep = Box::pin(sleep_until(at));
    assert!(!polled(sleep.as_mut()));
    let millisecond = Duration::from_millis(1);
    assert_eq!(
        deadlines.earliest((at - millisecond).into_std()),
        Some(at.into_std())
    );
    assert_eq!(deadlines.earliest(at.into_std()), None);
}

#[tokio::test]
async fn the_earliest_deadline_is_that_of_a_timer_that_is_waited_for() {
    let deadlines = TimerDeadlines::new();
    let hour = Duration::from_secs(3600);
    let begun = Instant::now();
    let of = |hours: u32| begun + hours * hour;
    let (mut late, mut early) = (Box::pin(sleep_until(of(2))), Box::pin(sleep_until(of(1))));
    assert_eq!(earliest_of(&deadlines), None);
    assert!(!polled(late.as_mut()) && !polled(early.as_mut()));
    assert!(!polled(early.as_mut()));
    assert_eq!(earliest_of(&deadlines), Some(of(1).into_std()));
    early.as_mut().reset(of(3));
    assert_eq!(earliest_of(&deadlines), Some(of(2).into_std()));
    drop(late);
    assert_eq!(earliest_of(&deadlines), Some(of(3).into_std()));
    early.as_mut().reset(begun);
    early.await;
    assert_eq!(earliest_of(&deadlines), None);
}

#[tokio::test]
async fn timers_of_one_deadline_are_kept_apart() {
    let deadlines = TimerDeadlines::new();
    let at = Instant::now() + Duration::from_secs(1);
    let (mut one, mut other) = (Box::pin(sleep_until(at)), Box::pin(sleep_until(at)));
    assert!(!polled(one.as_mut()) && !polled(other.as_mut()));
    drop(one);
    assert_eq!(earliest_of(&deadlines), Some(at.into_std()));
    drop(other);
    assert_eq!(earliest_of(&deadlines), None);
}

#[tokio::test]
async fn without_a_reader_no_deadline_is_kept() {
    let mut sleep = Box::pin(sleep(Duration::from_secs(1)));
    assert!(!polled(sleep.as_mut()));
    let deadlines = TimerDeadlines::new();
    assert_eq!(earliest_of(&deadlines), None);
    let other = TimerDeadlines::new();
    drop(other);
    assert!(!polled(sleep.as_mut()));
    assert!(earliest_of(&deadlines).is_some());
    drop(deadlines);
    assert_eq!(earliest(Instant::now()), None);
}

#[tokio::test]
async fn a_timeout_ends_work_at_its_deadline_and_gives_its_result_before() {
    let hour = Duration::from_secs(3600);
    assert_eq!(timeout(hour, async { 7 }).await.ok(), Some(7));
    let soon = Duration::from_millis(1);
    assert!(timeout(soon, std::future::pending::<()>()).await.is_err());
    assert!(
        timeout_at(Instant::now() + soon, sleep(hour))
            .await
            .is_err()
    );
    // A limit of zero does not lose what is there already.
    assert_eq!(timeout(Duration::ZERO, async { 7 }).await.ok(), Some(7));
}
