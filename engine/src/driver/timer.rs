//! The timers of this crate: tokio's, with their deadlines written down for an event loop that
//! drives the runtime and must know how long it may sleep ([`crate::event_loop::TimerDeadlines`]). tokio
//! gives its own next deadline to no caller. All timers of the crate go through this module.

use pin_project_lite::pin_project;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

thread_local! {
    static PENDING: RefCell<Pending> = const { RefCell::new(Pending::new()) };
}

/// The deadlines of the timers that are waited for on this thread.
struct Pending {
    /// Event loops of this thread that need them; without one none is kept.
    readers: u32,
    number: u64,
    /// The number tells timers of one deadline apart.
    deadlines: BTreeSet<(Instant, u64)>,
}

impl Pending {
    const fn new() -> Self {
        Self {
            readers: 0,
            number: 0,
            deadlines: BTreeSet::new(),
        }
    }
}

/// Starts or ends a reader of this thread's deadlines.
pub(crate) fn read_deadlines(starts: bool) {
    let _ = PENDING.try_with(|pending| {
        let mut pending = pending.borrow_mut();
        match starts {
            true => pending.readers += 1,
            false => pending.readers = pending.readers.saturating_sub(1),
        }
        if pending.readers == 0 {
            pending.deadlines = BTreeSet::new();
        }
    });
}

/// The earliest deadline later than `after` of a timer that is waited for on this thread.
pub(crate) fn earliest(after: Instant) -> Option<Instant> {
    let earliest = |pending: &RefCell<Pending>| {
        let pending = pending.borrow();
        let mut later = pending.deadlines.range((after, u64::MAX)..);
        later.next().map(|of| of.0)
    };
    PENDING.try_with(earliest).ok().flatten()
}

pin_project! {
    /// A timer. It counts as waited for from a poll without result until it is due or dropped.
    #[derive(Debug)]
    pub(crate) struct Sleep {
        #[pin]
        inner: tokio::time::Sleep,
        kept: Kept,
    }
}

/// The place of a timer among its thread's deadlines. It goes with the timer.
#[derive(Debug, Default)]
struct Kept(Option<(Instant, u64)>);

impl Kept {
    fn keep(&mut self, deadline: Instant) {
        if self.0.is_some_and(|(kept, _)| kept == deadline) {
            return;
        }
        let _ = PENDING.try_with(|pending| {
            let mut pending = pending.borrow_mut();
            if let Some(before) = self.0.take() {
                pending.deadlines.remove(&before);
            }
            if pending.readers > 0 {
                pending.number += 1;
                let place = (deadline, pending.number);
                pending.deadlines.insert(place);
                self.0 = Some(place);
            }
        });
    }
    fn forget(&mut self) {
        if let Some(place) = self.0.take() {
            // A thread that ends has no deadlines any more.
            let _ = PENDING.try_with(|pending| pending.borrow_mut().deadlines.remove(&place));
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.forget();
    }
}

impl Sleep {
    /// When it is due.
    pub(crate) fn deadline(&self) -> Instant {
        self.inner.deadline()
    }
    /// Gives it another deadline; the task that waits for it stays the same.
    pub(crate) fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let this = self.project();
        this.inner.reset(deadline);
        if this.kept.0.is_some() {
            this.kept.keep(deadline);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        let deadline = this.inner.deadline();
        let polled = this.inner.poll(cx);
        match polled {
            Poll::Ready(()) => this.kept.forget(),
            Poll::Pending => this.kept.keep(deadline),
        }
        polled
    }
}

/// A timer that is due then.
pub(crate) fn sleep_until(deadline: Instant) -> Sleep {
    Sleep {
        inner: tokio::time::sleep_until(deadline),
        kept: Kept::default(),
    }
}

/// A timer that is due after `duration`.
pub(crate) fn sleep(duration: Duration) -> Sleep {
    Sleep {
        inner: tokio::time::sleep(duration),
        kept: Kept::default(),
    }
}

/// A timer that is made when it is first needed, and moved after that.
#[derive(Debug, Default)]
pub(crate) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Waits until `at`. `Ready`: that time has passed.
    pub(crate) fn poll_until(&mut self, cx: &mut Context<'_>, at: std::time::Instant) -> Poll<()> {
        let at = Instant::from_std(at);
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if sleep.deadline() != at {
            sleep.as_mut().reset(at);
        }
        sleep.as_mut().poll(cx)
    }
}

/// The time was over before the work was.
#[derive(Debug)]
pub(crate) struct Elapsed;

/// Runs `work`, for at most `limit`.
pub(crate) async fn timeout<F: Future>(limit: Duration, work: F) -> Result<F::Output, Elapsed> {
    race(sleep(limit), work).await
}

/// Runs `work`, until `deadline` at the latest.
pub(crate) async fn timeout_at<F: Future>(
    deadline: Instant,
    work: F,
) -> Result<F::Output, Elapsed> {
    race(sleep_until(deadline), work).await
}

async fn race<F: Future>(limit: Sleep, work: F) -> Result<F::Output, Elapsed> {
    let (mut limit, mut work) = (pin!(limit), pin!(work));
    std::future::poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Ok(output)),
        Poll::Pending => limit.as_mut().poll(cx).map(|()| Err(Elapsed)),
    })
    .await
}

#[cfg(test)]
#[path = "timer_test.rs"]
mod timer_test;
