//! Hand-over of a server's listening sockets to another process, whose workers accept from the same
//! queues, so that no client is refused while one server takes the place of another. The packets of
//! HTTP/3 connections that the server before still holds are forwarded to it.

mod header;
pub(in crate::server) mod upgrade;

use crate::error::Error;
use crate::net::listener::{Listener, Owner};
use crate::net::passing;
use crate::net::unix::UnixListener;
use crate::server::worker::WorkerCommand;
use crate::server::worker::generations::{KEY_BYTES, Predecessor, QuicInheritance, WorkerSockets};
use header::{PROTOCOL, SentCounts, SocketKind};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{
    SocketAddr as UnixAddress, UnixDatagram, UnixListener as StdUnixListener, UnixStream,
};
use std::sync::Arc;
use std::thread;
use tokio::sync::{mpsc, oneshot, watch};

/// A header of all generations is shorter.
const LINE_BYTES_MAX: usize = 512;

/// Open sockets of a server: a listening one for each worker, or one for all, and those of HTTP/3.
#[derive(Debug)]
pub struct Sockets {
    pub(super) listeners: Vec<Listener>,
    pub(super) udp: Vec<UdpSocket>,
    /// `None`: no other process has connections on the UDP sockets.
    pub(super) quic: Option<SharedQuic>,
    /// Tells servers of this process that the UDP sockets may be read.
    release: Arc<watch::Sender<bool>>,
    /// And the processes that these were sent to.
    sent_to: Vec<UnixStream>,
}

/// HTTP/3 on sockets of another server.
#[derive(Clone, Debug)]
pub(super) struct SharedQuic {
    key: [u8; KEY_BYTES],
    /// Bytes of a connection id.
    id_bytes: usize,
    /// The other server and those before it.
    predecessors: Vec<Predecessor>,
    source: ReleaseSource,
}

/// The other server, which says when it reads no more from the UDP sockets.
#[derive(Clone, Debug)]
enum ReleaseSource {
    /// By a byte, or by its end.
    Process(Arc<UnixStream>),
    /// A server of this process.
    Here(watch::Receiver<bool>),
}

impl Sockets {
    /// Sockets that listen already on one port, and UDP sockets of the port of the same number for HTTP/3, of which
    /// there may be none: inherited from a service manager, for example. Of several TCP sockets each has a
    /// worker; there may not be more UDP sockets than workers.
    pub fn of_port(tcp: Vec<TcpListener>, udp: Vec<UdpSocket>) -> Self {
        let tcp = tcp.into_iter();
        let listeners = tcp.map(|listener| Listener::Tcp(listener, Owner::Elsewhere));
        Self::new(listeners.collect(), udp, None)
    }
    /// A Unix socket that listens already; its file stays.
    pub fn of_unix(listener: StdUnixListener) -> Self {
        let unix = Listener::Unix(UnixListener::of(listener));
        Self::new(vec![unix], Vec::new(), None)
    }
    fn new(listeners: Vec<Listener>, udp: Vec<UdpSocket>, quic: Option<SharedQuic>) -> Self {
        Self {
            listeners,
            udp,
            quic,
            release: Arc::new(watch::Sender::new(false)),
            sent_to: Vec::new(),
        }
    }
    /// Duplicates of a running server's.
    pub(super) fn of_workers(workers: Vec<WorkerSockets>) -> Self {
        let mut all = Self::new(Vec::new(), Vec::new(), None);
        let (mut generations, mut forwards) = (None, Vec::new());
        for WorkerSockets { listener, quic } in workers {
            if !matches!(listener, Listener::None) {
                all.listeners.push(listener);
            }
            if let Some(quic) = quic {
                all.udp.push(quic.udp);
                forwards.push(quic.forward);
                generations = Some(quic.generations);
            }
        }
        all.quic = generations.map(|generations| {
            let before = generations.predecessors.iter();
            let mut predecessors = vec![Predecessor {
                generation: generations.generation,
                workers: forwards.into(),
            }];
            predecessors.extend(before.filter(|before| before.is_alive()).cloned());
            SharedQuic {
                key: generations.key,
                id_bytes: generations.id_bytes,
                predecessors,
                source: ReleaseSource::Here(all.release.subscribe()),
            }
        });
        all
    }
    /// Whether they are of a Unix socket.
    pub fn are_unix(&self) -> bool {
        matches!(self.listeners.first(), Some(Listener::Unix(_)))
    }
    /// The address of the port; `None`: they are of a Unix socket.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        match (self.listeners.first(), self.udp.first()) {
            (Some(Listener::Tcp(listener, _)), _) => listener.local_addr().ok(),
            (None, Some(udp)) => udp.local_addr().ok(),
            _ => None,
        }
    }
    /// The address of the Unix socket; `None`: they are of a port.
    pub fn unix_address(&self) -> Option<UnixAddress> {
        match self.listeners.first() {
            Some(Listener::Unix(unix)) => unix.address().ok(),
            _ => None,
        }
    }
    /// Whether there are UDP sockets, which a server without HTTP/3 does not read.
    pub fn have_udp(&self) -> bool {
        !self.udp.is_empty()
    }
    /// Closes the UDP sockets among these: the server whose sockets they are keeps reading its own, for the HTTP/3
    /// connections that it has. For a server without HTTP/3 in its place.
    #[must_use]
    pub fn without_udp(mut self) -> Self {
        self.udp.clear();
        self.quic = None;
        self
    }
    /// Duplicates, for a start that may be tried twice.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn try_clone(&self) -> io::Result<Self> {
        let listeners = self.listeners.iter().map(Listener::try_clone);
        let udp = self.udp.iter().map(UdpSocket::try_clone);
        let sent_to = self.sent_to.iter().map(UnixStream::try_clone);
        Ok(Self {
            listeners: listeners.collect::<io::Result<_>>()?,
            udp: udp.collect::<io::Result<_>>()?,
            quic: self.quic.clone(),
            release: Arc::clone(&self.release),
            sent_to: sent_to.collect::<io::Result<_>>()?,
        })
    }
    /// Sends duplicates to the process at the other end. Blocks, as `to` does. A byte on `to` says later that the UDP
    /// sockets are the other process's to read; nothing else may be written there meanwhile.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn send(&mut self, mut to: &UnixStream) -> io::Result<()> {
        self.sent_to.push(to.try_clone()?);
        to.write_all(self.line().as_bytes())?;
        let listening = self.listeners.iter().filter_map(Listener::descriptor);
        let udp = self.udp.iter().map(AsFd::as_fd);
        let predecessors = self.quic.iter().flat_map(|quic| &quic.predecessors);
        let forwards = predecessors.flat_map(|before| before.workers.iter().map(AsFd::as_fd));
        let descriptors: Vec<BorrowedFd<'_>> = listening.chain(udp).chain(forwards).collect();
        passing::send(to, &descriptors)
    }
    /// The kind and counts of the descriptors; with HTTP/3 key and length of the connection ids, and the generation
    /// and workers of each process that may have connections.
    fn line(&self) -> String {
        let kind = match self.listeners.first() {
            Some(Listener::Unix(unix)) if unix.has_file() => SocketKind::Unix,
            Some(Listener::Unix(_)) => SocketKind::UnixWithoutFile,
            _ => SocketKind::Tcp,
        };
        let kind = kind.name();
        let (listening, udp) = (self.listeners.len(), self.udp.len());
        let mut line = format!("{PROTOCOL} {kind} {listening} {udp}");
        if let Some(quic) = &self.quic {
            line.push(' ');
            for byte in quic.key {
                // Writing to a String cannot fail.
                let _ = write!(line, "{byte:02x}");
            }
            let _ = write!(line, " {}", quic.id_bytes);
            for before in &quic.predecessors {
                let _ = write!(line, " {}:{}", before.generation, before.workers.len());
            }
        }
        line.push('\n');
        line
    }
    /// Receives those that another process sends. Blocks, as `from` does. HTTP/3 is served on them once the other
    /// process has left its UDP sockets ([`Running::drain_handed_over`](crate::Running::drain_handed_over)) or has closed
    /// its end of `from`, which must not be read before.
    ///
    /// # Errors
    /// Those of `from`; `InvalidData` if something else comes.
    pub fn receive(from: &UnixStream) -> io::Result<Self> {
        let line = read_line(from)?;
        let counts = SentCounts::parse(&line)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, line.clone()))?;
        let mut received = passing::receive(from, counts.total())?.into_iter();
        let from = Arc::new(from.try_clone()?);
        let listen = |descriptor: OwnedFd| match counts.kind {
            SocketKind::Unix => Listener::Unix(UnixListener::inherited(
                descriptor.into(),
                Arc::clone(&from),
            )),
            SocketKind::UnixWithoutFile => Listener::Unix(UnixListener::of(descriptor.into())),
            SocketKind::Tcp => Listener::Tcp(TcpListener::from(descriptor), Owner::Elsewhere),
        };
        let mut next = |count| {
            received
                .by_ref()
                .take(count)
                .collect::<Vec<_>>()
                .into_iter()
        };
        let listeners = next(counts.listening).map(listen).collect();
        let udp = next(counts.udp).map(UdpSocket::from).collect();
        let predecessors = counts.predecessors.iter();
        let predecessors = predecessors.map(|&(generation, workers)| Predecessor {
            generation,
            workers: next(workers).map(UnixDatagram::from).collect(),
        });
        let quic = counts.ids.map(|(key, id_bytes)| SharedQuic {
            key,
            id_bytes,
            predecessors: predecessors.collect(),
            source: ReleaseSource::Process(from),
        });
        Ok(Self::new(listeners, udp, quic))
    }
    /// Duplicates of those of the workers that get `commands`, which are sent before the future is polled.
    pub(super) fn of(
        commands: &[&mpsc::UnboundedSender<WorkerCommand>],
    ) -> impl Future<Output = Result<Self, Error>> + use<> {
        let mut asked = Vec::new();
        for worker in commands {
            let (reply, answer) = oneshot::channel();
            // A worker that is gone drops the sender.
            let _ = worker.send(WorkerCommand::Duplicate(reply));
            asked.push(answer);
        }
        async move {
            let mut all = Vec::with_capacity(asked.len());
            for answer in asked {
                let duplicates = answer.await.map_err(|_| has_ended())?;
                all.push(duplicates.map_err(|error| {
                    Error::config("a listening socket cannot be duplicated").with_source(error)
                })?);
            }
            Ok(Self::of_workers(all))
        }
    }
    /// Another server serves on them: the workers that get `commands`, before the future is polled, read them no more. The file of
    /// a Unix socket is the other's file then; one of this process shares it.
    pub(super) fn leave_to_other(
        self,
        commands: &[&mpsc::UnboundedSender<WorkerCommand>],
    ) -> impl Future<Output = ()> + use<> {
        self.leave_files();
        let quic = self.have_udp();
        let mut answers = Vec::new();
        for worker in commands {
            let (done, answer) = oneshot::channel();
            // A worker that is gone reads nothing.
            if worker.send(WorkerCommand::HandOver { quic, done }).is_ok() {
                answers.push(answer);
            }
        }
        async move {
            for answer in answers {
                let _ = answer.await;
            }
            self.release();
        }
    }
    fn leave_files(&self) {
        if self.sent_to.is_empty() {
            return;
        }
        for listener in &self.listeners {
            if let Listener::Unix(unix) = listener {
                unix.leave_file();
            }
        }
    }
    /// The sockets are the other servers' now, and the UDP sockets are read here no more.
    fn release(&self) {
        self.release.send_replace(true);
        for mut stream in &self.sent_to {
            // A process that is gone reads none.
            let _ = stream.write_all(b"\n");
        }
    }
    /// The UDP sockets for as many of `count` workers: each is read by one alone, because the first packets of
    /// a connection must reach the same worker.
    pub(super) fn udp_for(udp: Vec<UdpSocket>, count: usize) -> Result<Vec<UdpSocket>, Error> {
        match udp.len() <= count {
            true => Ok(udp),
            false => Err(Error::config(format!(
                "there are {} UDP sockets for {count} workers; each needs a worker that reads it",
                udp.len()
            ))),
        }
    }
}

impl SharedQuic {
    /// For the workers that serve on the sockets.
    pub(super) fn inherit(self) -> Result<QuicInheritance, Error> {
        Ok(QuicInheritance {
            key: self.key,
            id_bytes: self.id_bytes,
            predecessors: self.predecessors,
            released: match self.source {
                ReleaseSource::Here(released) => released,
                ReleaseSource::Process(stream) => released_by(stream).map_err(|error| {
                    Error::config("no thread can be started").with_source(error)
                })?,
            },
        })
    }
}

fn has_ended() -> Error {
    Error::config("the server has ended: it has no sockets to hand over")
}

/// One line, without reading beyond it: descriptors come with the bytes behind.
fn read_line(mut from: &UnixStream) -> io::Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < LINE_BYTES_MAX {
        from.read_exact(&mut byte)?;
        if byte == [b'\n'] {
            return Ok(String::from_utf8_lossy(&line).into_owned());
        }
        line.extend(byte);
    }
    Err(io::ErrorKind::InvalidData.into())
}

/// Becomes true when a byte has come on `from` or its other end is closed. The byte stays, for others that
/// wait for it.
fn released_by(from: Arc<UnixStream>) -> io::Result<watch::Receiver<bool>> {
    let (release, released) = watch::channel(false);
    let wait = move || {
        let mut descriptors = [PollFd::new(&*from, PollFlags::IN)];
        while matches!(poll(&mut descriptors, None), Ok(0) | Err(Errno::INTR)) {}
        release.send_replace(true);
    };
    thread::Builder::new()
        .name("trunkline-release".to_owned())
        .spawn(wait)?;
    Ok(released)
}

#[cfg(test)]
#[path = "hand_over_test.rs"]
mod hand_over_test;
