//! Connection ids that encode the worker that owns the connection. A client that moves to another
//! address is hashed to another worker's socket; that worker finds the right one by the id and
//! passes the packet on (RFC 9000 section 9, section 5.1).
//!
//! An id is six random bytes and the worker's number under a keyed hash of them: without the key an
//! attacker can neither group ids by worker nor forge a valid one.

use quinn_proto::{ConnectionId, ConnectionIdGenerator, InvalidCid};
use rustls::crypto::SecureRandom;
use std::hash::{DefaultHasher, Hasher};

/// Bytes of our ids.
const CID_BYTES: usize = 8;
const RANDOM_BYTES: usize = 6;

/// The key that all workers of a server share.
#[derive(Clone, Debug)]
pub(crate) struct Steering {
    /// A hasher that has read the key.
    keyed: DefaultHasher,
    workers: u16,
}

impl Steering {
    /// For as many workers.
    pub(crate) fn new(key: &[u8], workers: usize) -> Self {
        let mut keyed = DefaultHasher::new();
        keyed.write(key);
        Self {
            keyed,
            workers: u16::try_from(workers).unwrap_or(u16::MAX),
        }
    }
    /// Makes the ids of one worker.
    pub(crate) fn ids_of(&self, worker: u16) -> Cids {
        Cids {
            steering: self.clone(),
            worker,
            random: rustls::crypto::aws_lc_rs::default_provider().secure_random,
        }
    }
    /// The worker that owns a packet's connection; `None`: the id is not ours, so the receiving
    /// worker handles it.
    pub(crate) fn worker_of(&self, packet: &[u8]) -> Option<u16> {
        // RFC 9000 section 17: bit 7 marks the long header, which carries the id's length.
        let id = match packet.first()? & 0x80 {
            0 => packet.get(1..=CID_BYTES)?,
            _ if usize::from(*packet.get(5)?) == CID_BYTES => packet.get(6..6 + CID_BYTES)?,
            _ => return None,
        };
        self.decode(id)
    }
    fn encode(&self, random: [u8; RANDOM_BYTES], worker: u16) -> [u8; CID_BYTES] {
        let mut id = [0; CID_BYTES];
        id[..RANDOM_BYTES].copy_from_slice(&random);
        id[RANDOM_BYTES..].copy_from_slice(&(worker ^ self.mask(random)).to_be_bytes());
        id
    }
    fn decode(&self, id: &[u8]) -> Option<u16> {
        let (random, hidden) = id.split_at_checked(RANDOM_BYTES)?;
        let random = random.try_into().ok()?;
        let worker = u16::from_be_bytes(hidden.try_into().ok()?) ^ self.mask(random);
        (worker < self.workers).then_some(worker)
    }
    fn mask(&self, random: [u8; RANDOM_BYTES]) -> u16 {
        let mut hasher = self.keyed.clone();
        hasher.write(&random);
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
        let mut random = [0; RANDOM_BYTES];
        // A system without random bytes fails at its first handshake already; the endpoint asks
        // again for an id that is taken.
        let _ = self.random.fill(&mut random);
        ConnectionId::new(&self.steering.encode(random, self.worker))
    }
    fn validate(&self, cid: &ConnectionId) -> Result<(), InvalidCid> {
        self.steering.decode(cid).map(drop).ok_or(InvalidCid)
    }
    fn cid_len(&self) -> usize {
        CID_BYTES
    }
    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}

#[cfg(test)]
#[path = "cid_test.rs"]
mod cid_test;
