//! Carries out the race for a host's addresses (RFC 8305): opens the sockets and runs the timer of
//! [`Race`]. Dropping the losers closes them.

use crate::driver::timer::Alarm;
use crate::error::{Error, ErrorKind, Fault, Retry};
use socket2::{SockRef, TcpKeepalive};
use std::fmt::Write;
use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::net::{TcpSocket, TcpStream};
use trunkline_core::pool::{Race, RaceStep};

/// How sockets are made, and how soon after each other.
#[derive(Clone, Copy, Debug)]
pub(in crate::client) struct SocketOptions {
    /// The head start of an address.
    pub(in crate::client) delay: Duration,
    /// When all of the attempts end.
    pub(in crate::client) limit: Option<Duration>,
    /// The address to connect from.
    pub(in crate::client) local_address: Option<IpAddr>,
    /// The silence after which the kernel asks whether the peer is there.
    pub(in crate::client) keepalive: Option<Duration>,
}

impl SocketOptions {
    pub(in crate::client) fn race(&self, addresses: &[SocketAddr]) -> Race {
        Race::new(addresses, self.delay).within(self.limit)
    }
}

/// A socket, and how long its address took to answer.
pub(in crate::client) type Connected = (TcpStream, Duration);

/// Connects to whichever of `addresses` answers first. `target` names them in the error.
pub(in crate::client) async fn connect(
    target: &str,
    addresses: &[SocketAddr],
    options: SocketOptions,
) -> Result<Connected, Error> {
    first(options.race(addresses), |address| open(address, options))
        .await
        .map_err(|failures| all_failed(target, failures))
}

/// Each address whose attempt failed, and why, in the order of the failures.
pub(in crate::client) type Failures<E> = Vec<(SocketAddr, E)>;

/// Opens a connection to each address as `race` says, and returns what is there first.
pub(in crate::client) async fn first<T, E, F>(
    race: Race,
    open: impl Fn(SocketAddr) -> F,
) -> Result<T, Failures<E>>
where
    F: Future<Output = Result<T, E>>,
{
    let mut racing = Racing {
        race,
        attempts: Vec::new(),
        failures: Vec::new(),
        alarm: Alarm::default(),
    };
    match poll_fn(|cx| racing.poll(cx, &open)).await {
        Some(connected) => Ok(connected),
        None => Err(racing.failures),
    }
}

struct Racing<F, E> {
    race: Race,
    attempts: Vec<(SocketAddr, Pin<Box<F>>)>,
    failures: Failures<E>,
    alarm: Alarm,
}

impl<T, E, F: Future<Output = Result<T, E>>> Racing<F, E> {
    fn poll(&mut self, cx: &mut Context<'_>, open: &impl Fn(SocketAddr) -> F) -> Poll<Option<T>> {
        loop {
            if let Some(connected) = self.poll_attempts(cx) {
                self.race.handle_connected();
                return Poll::Ready(Some(connected));
            }
            match self.race.poll(Instant::now()) {
                RaceStep::Connect(address) => {
                    self.attempts.push((address, Box::pin(open(address))));
                }
                RaceStep::Wait(Some(at)) if self.alarm.poll_until(cx, at).is_ready() => {}
                RaceStep::Wait(_) => return Poll::Pending,
                RaceStep::Done | RaceStep::Failed => return Poll::Ready(None),
            }
        }
    }

    /// The first attempt that has succeeded; those that have failed are noted.
    fn poll_attempts(&mut self, cx: &mut Context<'_>) -> Option<T> {
        let mut index = 0;
        while let Some((address, attempt)) = self.attempts.get_mut(index) {
            match attempt.as_mut().poll(cx) {
                Poll::Pending => index += 1,
                Poll::Ready(Ok(connected)) => return Some(connected),
                Poll::Ready(Err(error)) => {
                    self.failures.push((*address, error));
                    drop(self.attempts.remove(index));
                    self.race.handle_failed();
                }
            }
        }
        None
    }
}

async fn open(address: SocketAddr, options: SocketOptions) -> io::Result<Connected> {
    let began = Instant::now();
    let socket = match options.local_address {
        None => TcpStream::connect(address).await?,
        Some(local) => {
            let socket = match local {
                IpAddr::V4(_) => TcpSocket::new_v4(),
                IpAddr::V6(_) => TcpSocket::new_v6(),
            }?;
            socket.bind(SocketAddr::new(local, 0))?;
            socket.connect(address).await?
        }
    };
    let took = began.elapsed();
    // Batches are whole when they are written; waiting for more only adds a delay.
    let _ = socket.set_nodelay(true);
    if let Some(silence) = options.keepalive {
        let keepalive = TcpKeepalive::new()
            .with_time(silence)
            .with_interval(silence);
        SockRef::from(&socket).set_tcp_keepalive(&keepalive)?;
    }
    Ok((socket, took))
}

/// Names every address with its error; the last one's error is the source.
fn all_failed(target: &str, mut failures: Failures<io::Error>) -> Error {
    let mut text = format!("no connection to {target}");
    for (index, (address, error)) in failures.iter().enumerate() {
        let separator = if index == 0 { ": " } else { "; " };
        // Writing to a String does not fail.
        let _ = write!(text, "{separator}{address}: {error}");
    }
    let error = Error::new(ErrorKind::Connect, Fault::Network, Retry::Safe).with_text(text);
    match failures.pop() {
        Some((address, last)) => error.with_address(address).with_source(last),
        None => error,
    }
}
