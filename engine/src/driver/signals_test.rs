use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Count(AtomicUsize);
impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn asleep() -> (Arc<Signals>, Arc<Count>) {
    let signals = Arc::new(Signals::default());
    let count = Arc::new(Count(AtomicUsize::new(0)));
    signals.begin_turn(&mut None);
    assert!(signals.end_turn(&Waker::from(Arc::clone(&count))));
    (signals, count)
}

#[test]
fn a_note_wakes_a_sleeping_owner_once() {
    let (signals, count) = asleep();
    signals.ready(3);
    signals.taken(StreamId(1), 10);
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
}

#[test]
fn a_note_during_the_turn_wakes_nobody_but_is_seen_before_sleep() {
    let (signals, count) = asleep();
    let mut notes = None;
    signals.begin_turn(&mut notes);
    signals.ready(3);
    assert_eq!(count.0.load(Ordering::Relaxed), 0);
    assert!(!signals.end_turn(Waker::noop()), "there is something to do");
    signals.begin_turn(&mut notes);
    assert_eq!(notes.unwrap().ready, [3]);
    assert!(signals.end_turn(Waker::noop()));
}

#[test]
fn bytes_taken_of_one_stream_add_up() {
    let (signals, _) = asleep();
    for (stream, bytes) in [(1, 10), (1, 5), (3, 2), (1, 0)] {
        signals.taken(StreamId(stream), bytes);
    }
    let mut notes = None;
    signals.begin_turn(&mut notes);
    assert_eq!(notes.unwrap().taken, [(StreamId(1), 15), (StreamId(3), 2)]);
}

#[test]
fn an_abort_is_not_softened_by_a_later_drain() {
    let (signals, _) = asleep();
    signals.stop(Stop::Abort);
    signals.stop(Stop::Drain);
    let mut notes = None;
    signals.begin_turn(&mut notes);
    assert_eq!(notes.unwrap().stop, Some(Stop::Abort));
}

#[test]
fn the_memory_of_notes_goes_back_and_forth_and_is_given_back_without_losing_one() {
    let (signals, _) = asleep();
    let mut notes = None;
    signals.ready(3);
    signals.release();
    signals.begin_turn(&mut notes);
    let mut first = notes.take().unwrap();
    assert_eq!(first.ready, [3], "a release takes no note away");
    first.clear();
    let place = std::ptr::from_ref(&*first);
    notes = Some(first);
    signals.begin_turn(&mut notes);
    assert!(notes.is_none(), "nothing was noted");
    signals.ready(4);
    signals.begin_turn(&mut notes);
    let again = notes.unwrap();
    assert_eq!(again.ready, [4]);
    assert!(std::ptr::eq(place, &*again));
}

#[test]
fn an_owner_before_its_first_turn_learns_of_an_abort_also_behind_a_drain_and_loses_no_note() {
    let signals = Arc::new(Signals::default());
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&count));
    assert!(!signals.is_aborted(&waker));
    for (stop, woken, is_aborted) in [(Stop::Drain, 1, false), (Stop::Abort, 2, true)] {
        signals.stop(stop);
        assert_eq!(count.0.load(Ordering::Relaxed), woken);
        assert_eq!(signals.is_aborted(&waker), is_aborted, "{stop:?}");
    }
    let mut notes = None;
    signals.begin_turn(&mut notes);
    assert_eq!(notes.unwrap().stop, Some(Stop::Abort));
}
