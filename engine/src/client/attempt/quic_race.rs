//! Carries out the race of QUIC and TCP for one connection: runs two attempts and the timer of
//! [`QuicRace`]. Dropping the loser closes it.

use crate::driver::timer::Alarm;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Instant;
use trunkline_core::pool::{QuicRace, QuicRaceStep};

/// The attempt that completed first.
pub(in crate::client) enum Winner<Q, T> {
    Quic(Q),
    Tcp(T),
}

/// Runs `quic` at once and `tcp` when core says so. Where both fail, TCP's error counts: it says
/// more about the origin.
pub(super) async fn first_of<Q, T, E>(
    quic: impl Future<Output = Result<Q, E>>,
    tcp: impl Future<Output = Result<T, E>>,
) -> Result<Winner<Q, T>, E> {
    let (mut quic, mut tcp) = (pin!(quic), pin!(tcp));
    let mut running = RaceTask {
        race: QuicRace::new(Instant::now()),
        quic: true,
        tcp: false,
        error: None,
        alarm: Alarm::default(),
    };
    poll_fn(|cx| running.poll(cx, quic.as_mut(), tcp.as_mut())).await
}

struct RaceTask<E> {
    race: QuicRace,
    /// Which attempts run.
    quic: bool,
    tcp: bool,
    error: Option<E>,
    alarm: Alarm,
}

impl<E> RaceTask<E> {
    fn poll<Q, T>(
        &mut self,
        cx: &mut Context<'_>,
        mut quic: Pin<&mut impl Future<Output = Result<Q, E>>>,
        mut tcp: Pin<&mut impl Future<Output = Result<T, E>>>,
    ) -> Poll<Result<Winner<Q, T>, E>> {
        loop {
            if self.quic
                && let Poll::Ready(done) = quic.as_mut().poll(cx)
            {
                self.quic = false;
                match done {
                    Ok(won) => return Poll::Ready(Ok(Winner::Quic(won))),
                    Err(error) => {
                        self.error.get_or_insert(error);
                        self.race.handle_quic_failed();
                    }
                }
            }
            if self.tcp
                && let Poll::Ready(done) = tcp.as_mut().poll(cx)
            {
                self.tcp = false;
                match done {
                    Ok(won) => return Poll::Ready(Ok(Winner::Tcp(won))),
                    Err(error) => {
                        self.error = Some(error);
                        self.race.handle_tcp_failed();
                    }
                }
            }
            match self.race.poll(Instant::now()) {
                QuicRaceStep::StartTcp => self.tcp = true,
                QuicRaceStep::Wait(Some(at)) if self.alarm.poll_until(cx, at).is_ready() => {}
                QuicRaceStep::Wait(_) => return Poll::Pending,
                QuicRaceStep::Failed => {
                    if let Some(error) = self.error.take() {
                        return Poll::Ready(Err(error));
                    }
                }
            }
        }
    }
}
