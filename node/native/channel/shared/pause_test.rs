use super::super::super::ring::ring_test::Reader;
use super::super::super::ring::{ENTRIES, Memory};
use super::*;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

/// An overflow of one entry, and what JavaScript reads the others by.
fn behind() -> (Mutex<Outbound>, Reader) {
    let memory = Memory::new();
    let mut outbound = Outbound::new(Arc::clone(&memory));
    for number in 0..=ENTRIES {
        let _ = outbound.complete([1, number, 0, 0, 0, 0, 0, 0], b"", b"");
    }
    (Mutex::new(outbound), Reader::new(memory))
}

/// As `Shared::spill`, from another thread.
fn spill(outbound: &Mutex<Outbound>, caught_up: &Notify, reader: &mut Reader) {
    while reader.next().is_some() {}
    assert!(lock(outbound).spill());
    caught_up.notify_waiters();
}

#[test]
fn a_pause_is_over_though_what_waited_was_moved_before_its_first_poll() {
    let ((outbound, mut reader), caught_up) = (behind(), Notify::new());
    let mut pause = pin!(is_caught_up(&outbound, &caught_up));
    spill(&outbound, &caught_up, &mut reader);
    let mut cx = Context::from_waker(Waker::noop());
    assert!(pause.as_mut().poll(&mut cx).is_ready());
}

#[test]
fn a_pause_waits_until_what_waits_is_moved() {
    let ((outbound, mut reader), caught_up) = (behind(), Notify::new());
    let mut pause = pin!(is_caught_up(&outbound, &caught_up));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(pause.as_mut().poll(&mut cx).is_pending());
    spill(&outbound, &caught_up, &mut reader);
    assert!(pause.as_mut().poll(&mut cx).is_ready());
}
