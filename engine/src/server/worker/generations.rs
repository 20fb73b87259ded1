//! The processes that have served HTTP/3 on the same UDP sockets, one after the other. Each makes
//! connection ids of its own generation under one key, so that the process that reads the sockets can
//! forward the packets of connections that an earlier one still holds.

use crate::error::Error;
#[cfg(unix)]
use crate::net::listener::Listener;
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::net::UdpSocket;
#[cfg(unix)]
use std::os::unix::net::UnixDatagram;
#[cfg(unix)]
use std::sync::Arc;
use tokio::sync::watch;

/// The bytes of the key of connection ids.
pub(in crate::server) const KEY_BYTES: usize = 32;
/// Generations of ids that differ: four bits of an id. Fifteen processes may drain at the
/// same time.
#[cfg_attr(
    not(unix),
    allow(
        dead_code,
        reason = "for processes that take over sockets, on Unix alone"
    )
)]
pub(in crate::server) const GENERATIONS: u8 = 16;
/// Workers that an id can name: twelve bits of it.
pub(in crate::server) const QUIC_WORKERS_MAX: usize = 4096;

/// An earlier process that may still hold connections.
#[cfg(unix)]
#[derive(Clone, Debug)]
pub(in crate::server) struct Predecessor {
    pub(in crate::server) generation: u8,
    /// A socket for each of its workers, which do not block: they take the packets of their connections.
    pub(in crate::server) workers: Arc<[UnixDatagram]>,
}

#[cfg(unix)]
impl Predecessor {
    /// Whether one of its workers still reads. Datagrams without bytes are ignored there.
    pub(in crate::server) fn is_alive(&self) -> bool {
        let would_block = |error: io::Error| error.kind() == io::ErrorKind::WouldBlock;
        let reads = |worker: &UnixDatagram| worker.send(&[]).map_or_else(would_block, |_| true);
        self.workers.iter().any(reads)
    }
}

/// The part of HTTP/3 that a process takes over with the sockets of another.
#[derive(Clone, Debug)]
pub(in crate::server) struct QuicInheritance {
    /// The key of the connection ids.
    pub(in crate::server) key: [u8; KEY_BYTES],
    /// The bytes of the connection ids of every process on the sockets.
    #[cfg_attr(
        not(unix),
        allow(
            dead_code,
            reason = "for processes that take over sockets, on Unix alone"
        )
    )]
    pub(in crate::server) id_bytes: usize,
    /// The process before and those before it.
    #[cfg(unix)]
    pub(in crate::server) predecessors: Vec<Predecessor>,
    /// Becomes true, or loses its sender, when the process before reads no more from the UDP sockets.
    pub(in crate::server) released: watch::Receiver<bool>,
}

/// A server's key and generation of connection ids, and the processes before it.
#[derive(Debug)]
pub(in crate::server) struct Generations {
    pub(in crate::server) key: [u8; KEY_BYTES],
    pub(in crate::server) generation: u8,
    /// The bytes of its connection ids.
    #[cfg_attr(
        not(unix),
        allow(
            dead_code,
            reason = "for processes that take over sockets, on Unix alone"
        )
    )]
    pub(in crate::server) id_bytes: usize,
    #[cfg(unix)]
    pub(in crate::server) predecessors: Vec<Predecessor>,
}

impl Generations {
    /// The generation of a server that opened its sockets itself.
    pub(in crate::server) fn first(key: [u8; KEY_BYTES], id_bytes: usize) -> Self {
        Self {
            key,
            generation: 0,
            id_bytes,
            #[cfg(unix)]
            predecessors: Vec::new(),
        }
    }
    /// The generation of a server on the sockets of another, which no process before it has.
    ///
    /// # Errors
    /// When all generations are taken, or the ids have another length: those of connections could not be read.
    #[cfg(unix)]
    pub(in crate::server) fn after(
        inherited: QuicInheritance,
        id_bytes: usize,
    ) -> Result<Self, Error> {
        if inherited.id_bytes != id_bytes {
            return Err(Error::config(format!(
                "connection ids of HTTP/3 have {id_bytes} bytes here, and {} at the server whose place this one is to take; \
                 give both the same lengths of QUIC-LB",
                inherited.id_bytes
            )));
        }
        let predecessors = inherited.predecessors;
        let is_free = |generation: &u8| {
            let mut taken = predecessors.iter().map(|before| before.generation);
            taken.all(|taken| taken != *generation)
        };
        let generation = (0..GENERATIONS).find(is_free).ok_or_else(|| {
            Error::config(format!(
                "{} servers before this one still drain their HTTP/3 connections; wait for one of them to end",
                predecessors.len()
            ))
        })?;
        Ok(Self {
            key: inherited.key,
            generation,
            id_bytes,
            predecessors,
        })
    }
    /// No process hands its sockets over.
    ///
    /// # Errors
    /// None.
    #[cfg(not(unix))]
    pub(in crate::server) fn after(
        inherited: QuicInheritance,
        id_bytes: usize,
    ) -> Result<Self, Error> {
        Ok(Self::first(inherited.key, id_bytes))
    }
}

/// Duplicates of one worker's sockets, for another process.
#[cfg(unix)]
#[derive(Debug)]
pub(in crate::server) struct WorkerSockets {
    pub(in crate::server) listener: Listener,
    pub(in crate::server) quic: Option<QuicWorkerSockets>,
}

/// The sockets of a worker's HTTP/3.
#[cfg(unix)]
#[derive(Debug)]
pub(in crate::server) struct QuicWorkerSockets {
    pub(in crate::server) udp: UdpSocket,
    /// Takes the packets of this worker's connections.
    pub(in crate::server) forward: UnixDatagram,
    pub(in crate::server) generations: Arc<Generations>,
}

#[cfg(all(test, unix))]
#[path = "generations_test.rs"]
mod generations_test;
