//! Connection ids that encode the worker that owns the connection. A client that moves to another
//! address is hashed to another worker's socket; that worker finds the right one by the id and
//! passes the packet on (RFC 9000 section 9, section 5.1).
//!
//! An id is six random bytes, or a server's id for load balancers, and behind them the worker's number and the generation of its
//! process under a keyed hash of them: without the key an attacker can neither group ids by worker nor forge a valid one.
//! A process that takes over the sockets of another has the same key and another generation.

use super::quic_lb::ServerIdEncoder;
use quinn_proto::{ConnectionId, ConnectionIdGenerator, InvalidCid};
use rustls::crypto::SecureRandom;
use std::hash::{DefaultHasher, Hasher};

/// The most bytes of an id in version 1 of QUIC (RFC 9000 section 17.2).
const CID_BYTES_MAX: usize = 20;
/// Bytes before the owner, where no load balancer reads them.
const RANDOM_BYTES: usize = 6;
/// Bytes of the owner.
const OWNER_BYTES: usize = 2;
/// The bits of the worker's number; the generation has the four above them.
const WORKER_BITS: u32 = 12;
const WORKER_MASK: u16 = (1 << WORKER_BITS) - 1;

/// The owner of the connection that an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CidOwner {
    /// A worker of this process.
    Worker(u16),
    /// A worker of a process with other ids, which may have ended.
    OtherProcess { generation: u8, worker: u16 },
}

/// The key that all workers of a server share.
#[derive(Clone, Debug)]
pub(crate) struct Steering {
    /// A hasher that has read the key.
    keyed: DefaultHasher,
    generation: u8,
    workers: u16,
    /// `None`: ids begin with random bytes.
    balanced: Option<ServerIdEncoder>,
}

impl Steering {
    /// For the ids of a generation (below 16) and as many workers (at most 4,096). `balanced`: load balancers read them.
    pub(crate) fn new(
        key: &[u8],
        generation: u8,
        workers: usize,
        balanced: Option<ServerIdEncoder>,
    ) -> Self {
        let mut keyed = DefaultHasher::new();
        keyed.write(key);
        Self {
            keyed,
            generation,
            workers: u16::try_from(workers).unwrap_or(u16::MAX),
            balanced,
        }
    }
    /// Bytes of ids that load balancers read, or of others.
    pub(crate) fn id_bytes_with(balanced: Option<&ServerIdEncoder>) -> usize {
        balanced.map_or(RANDOM_BYTES, ServerIdEncoder::bytes) + OWNER_BYTES
    }
    fn id_bytes(&self) -> usize {
        Self::id_bytes_with(self.balanced.as_ref())
    }
    /// The bytes of an id in front of the owner's.
    fn start_bytes(&self) -> usize {
        self.id_bytes() - OWNER_BYTES
    }
    /// Makes the ids of one worker.
    pub(crate) fn ids_of(&self, worker: u16) -> Cids {
        Cids {
            steering: self.clone(),
            worker,
            random: rustls::crypto::aws_lc_rs::default_provider().secure_random,
        }
    }
    /// The owner of a packet's connection; `None`: the id is not ours, so the receiving worker handles
    /// it.
    pub(crate) fn owner_of(&self, packet: &[u8]) -> Option<CidOwner> {
        // RFC 9000 section 17: bit 7 marks the long header, which carries the id's length.
        let bytes = self.id_bytes();
        let id = match packet.first()? & 0x80 {
            0 => packet.get(1..=bytes)?,
            _ if usize::from(*packet.get(5)?) == bytes => packet.get(6..6 + bytes)?,
            _ => return None,
        };
        match self.decode(id)? {
            (generation, worker) if generation == self.generation => {
                (worker < self.workers).then_some(CidOwner::Worker(worker))
            }
            (generation, worker) => Some(CidOwner::OtherProcess { generation, worker }),
        }
    }
    /// `random` fills bytes that have no meaning.
    fn encode(&self, random: impl FnOnce(&mut [u8]), worker: u16) -> ConnectionId {
        let mut id = [0; CID_BYTES_MAX];
        let id = &mut id[..self.id_bytes()];
        let (start, hidden) = id.split_at_mut(self.start_bytes());
        match &self.balanced {
            Some(balanced) => {
                let mut nonce = [0; CID_BYTES_MAX];
                let nonce = &mut nonce[..balanced.nonce_bytes()];
                random(nonce);
                balanced.encode(nonce, start.len() + OWNER_BYTES, start);
            }
            None => random(start),
        }
        let owner = u16::from(self.generation) << WORKER_BITS | (worker & WORKER_MASK);
        hidden.copy_from_slice(&(owner ^ self.mask(start)).to_be_bytes());
        ConnectionId::new(id)
    }
    /// The generation and the worker's number, whatever they are.
    fn decode(&self, id: &[u8]) -> Option<(u8, u16)> {
        let (start, hidden) = id.split_at_checked(self.start_bytes())?;
        let owner = u16::from_be_bytes(hidden.try_into().ok()?) ^ self.mask(start);
        Some(((owner >> WORKER_BITS) as u8, owner & WORKER_MASK))
    }
    fn mask(&self, start: &[u8]) -> u16 {
        let mut hasher = self.keyed.clone();
        hasher.write(start);
        hasher.finish() as u16
    }
}

/// The ids of one worker's connections.
#[derive(Debug)]
pub(crate) struct Cids {
    steering: Steering,
    worker: u16,
    random: &'static dyn SecureRandom,
}

impl ConnectionIdGenerator for Cids {
    fn generate_cid(&mut self) -> ConnectionId {
        let random = |bytes: &mut [u8]| {
            // A system without random bytes fails at its first handshake already; the endpoint asks
            // again for an id that is taken.
            let _ = self.random.fill(bytes);
        };
        self.steering.encode(random, self.worker)
    }
    fn validate(&self, cid: &ConnectionId) -> Result<(), InvalidCid> {
        // Any generation counts: a server that starts again resets connections of the process before it,
        // which was not always the first one.
        let worker = self.steering.decode(cid).map(|(_, worker)| worker);
        let is_ours = worker.is_some_and(|worker| worker < self.steering.workers);
        is_ours.then_some(()).ok_or(InvalidCid)
    }
    fn cid_len(&self) -> usize {
        self.steering.id_bytes()
    }
    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}

#[cfg(test)]
#[path = "cid_test.rs"]
mod cid_test;
