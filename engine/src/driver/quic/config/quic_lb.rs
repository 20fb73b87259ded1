//! Connection ids that carry a server's id for load balancers, as draft-ietf-quic-load-balancers-21 has them: in the
//! clear, or encrypted with AES-128, in one pass where server id and nonce are 16 bytes, in a Feistel network of four
//! passes otherwise.

use crate::error::Error;
use aws_lc_rs::cipher::{AES_128, EncryptingKey, UnboundCipherKey};
use aws_lc_rs::error::Unspecified;
use std::fmt;
use std::sync::Arc;

/// The bytes of a server id; the draft has as many as fit.
const SERVER_ID_BYTES_MIN: usize = 1;
/// The fewest bytes of a nonce (section 5).
const NONCE_BYTES_MIN: usize = 4;
/// A duplicate among ids of one server is expected after 2^32 of them.
const NONCE_BYTES_DEFAULT: usize = 8;
/// Server id and nonce together: version 1 of QUIC has ids of 20 bytes, of which the first octet and the two bytes that
/// name worker and process take three.
const PLAINTEXT_BYTES_MAX: usize = 17;
/// Configurations that the first octet can tell apart (section 3.1); 7 says that the id names no server.
const ROTATION_MAX: u8 = 6;
/// Bits of the first octet for the length of the id, less one.
const LENGTH_BITS: u32 = 5;
/// The length of server id and nonce that is one block of AES.
const BLOCK_BYTES: usize = 16;

/// How the connection ids of HTTP/3 name this server to load balancers (QUIC-LB, draft-ietf-quic-load-balancers-21). A balancer
/// that has the same settings sends the packets of a client that has changed its address to the server of its connection.
#[derive(Clone)]
#[must_use]
pub struct QuicLb {
    server_id: Vec<u8>,
    nonce_bytes: usize,
    rotation: u8,
    key: Option<[u8; BLOCK_BYTES]>,
}

impl QuicLb {
    /// Ids with this server's id, which is its own among the servers behind the balancer: 1 byte or more, with the nonce 17 at most.
    /// In the clear, with a nonce of 8 bytes, for the configuration 0.
    pub fn new(server_id: impl AsRef<[u8]>) -> Self {
        Self {
            server_id: server_id.as_ref().to_owned(),
            nonce_bytes: NONCE_BYTES_DEFAULT,
            rotation: 0,
            key: None,
        }
    }
    /// Encrypts server id and nonce, so that observers cannot tell which connections one server has. The balancer has the same
    /// key.
    pub fn key(mut self, key: [u8; BLOCK_BYTES]) -> Self {
        self.key = Some(key);
        self
    }
    /// The bytes of the nonce, which is random: 4 or more. Two ids of `n` bytes of nonce are expected to be the same after 2^(4n).
    /// Default: 8.
    pub fn nonce_bytes(mut self, bytes: usize) -> Self {
        self.nonce_bytes = bytes;
        self
    }
    /// The number of the configuration (config rotation bits), 0 to 6, by which balancers tell the ids of an old one from those
    /// of a new one. Default: 0.
    pub fn rotation(mut self, rotation: u8) -> Self {
        self.rotation = rotation;
        self
    }
    /// Whether a server can be started with these settings.
    ///
    /// # Errors
    /// When one is out of its range.
    pub fn check(&self) -> Result<(), Error> {
        self.encoder().map(|_| ())
    }
    /// # Errors
    /// Those of [`check`](Self::check).
    pub(crate) fn encoder(&self) -> Result<ServerIdEncoder, Error> {
        let (id, nonce) = (self.server_id.len(), self.nonce_bytes);
        let range = format!(
            "the server id must have {SERVER_ID_BYTES_MIN} byte or more, the nonce {NONCE_BYTES_MIN} or more, both together \
             {PLAINTEXT_BYTES_MAX} at most"
        );
        if id < SERVER_ID_BYTES_MIN || nonce < NONCE_BYTES_MIN || id + nonce > PLAINTEXT_BYTES_MAX {
            return Err(Error::config(format!(
                "QUIC-LB has a server id of {id} bytes and a nonce of {nonce}; {range}"
            )));
        }
        if self.rotation > ROTATION_MAX {
            return Err(Error::config(format!(
                "the configuration of QUIC-LB is {}; it must be 0 to {ROTATION_MAX}",
                self.rotation
            )));
        }
        let key = self.key.as_ref().map(cipher).transpose();
        let key = key.map_err(|_| Error::config("AES-128 cannot be used for QUIC-LB"))?;
        Ok(ServerIdEncoder {
            server_id: self.server_id.as_slice().into(),
            nonce_bytes: nonce,
            rotation: self.rotation,
            key,
        })
    }
}

/// Without the key.
impl fmt::Debug for QuicLb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuicLb")
            .field("server_id", &self.server_id)
            .field("nonce_bytes", &self.nonce_bytes)
            .field("rotation", &self.rotation)
            .finish_non_exhaustive()
    }
}

/// Makes the part of a connection id that the draft defines.
#[derive(Clone)]
pub(crate) struct ServerIdEncoder {
    server_id: Arc<[u8]>,
    nonce_bytes: usize,
    rotation: u8,
    key: Option<Arc<EncryptingKey>>,
}

impl ServerIdEncoder {
    pub(crate) fn nonce_bytes(&self) -> usize {
        self.nonce_bytes
    }
    /// The first octet, server id and nonce.
    pub(crate) fn bytes(&self) -> usize {
        1 + self.server_id.len() + self.nonce_bytes
    }
    /// The start of an id of `id_bytes`, into `start`, which has room for it.
    pub(crate) fn encode(&self, nonce: &[u8], id_bytes: usize, start: &mut [u8]) {
        let length = u8::try_from(id_bytes.saturating_sub(1)).unwrap_or(u8::MAX);
        let (first, plaintext) = start.split_at_mut(1);
        first[0] = self.rotation << LENGTH_BITS | length & ((1 << LENGTH_BITS) - 1);
        let (server_id, rest) = plaintext.split_at_mut(self.server_id.len());
        server_id.copy_from_slice(&self.server_id);
        rest.copy_from_slice(nonce);
        let Some(key) = &self.key else { return };
        match plaintext.len() {
            BLOCK_BYTES => encrypt_block(key, plaintext),
            _ => encrypt_in_four_passes(key, plaintext),
        }
    }
}

impl fmt::Debug for ServerIdEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerIdEncoder").finish_non_exhaustive()
    }
}

fn cipher(key: &[u8; BLOCK_BYTES]) -> Result<Arc<EncryptingKey>, Unspecified> {
    EncryptingKey::ecb(UnboundCipherKey::new(&AES_128, key)?).map(Arc::new)
}

/// One block, in place.
fn encrypt_block(key: &EncryptingKey, block: &mut [u8]) {
    key.encrypt(block)
        .expect("AES encrypts every block of its length");
}

/// Section 5.4.2: each half in turn is expanded to a block and encrypted, and the result added to the other half. Of an odd number
/// of bytes the one in the middle is split: four bits in each half.
fn encrypt_in_four_passes(key: &EncryptingKey, plaintext: &mut [u8]) {
    let length = plaintext.len();
    let half = length.div_ceil(2);
    let is_odd = length % 2 == 1;
    let (mut left, mut right) = ([0; BLOCK_BYTES], [0; BLOCK_BYTES]);
    left[..half].copy_from_slice(&plaintext[..half]);
    right[..half].copy_from_slice(&plaintext[length - half..]);
    let clear = |left: &mut [u8; BLOCK_BYTES], right: &mut [u8; BLOCK_BYTES]| {
        if is_odd {
            left[half - 1] &= 0xf0;
            right[0] &= 0x0f;
        }
    };
    clear(&mut left, &mut right);
    for pass in 1..=4 {
        let (from, to) = match pass % 2 {
            1 => (&left, &mut right),
            _ => (&right, &mut left),
        };
        let mut block = *from;
        // PLAINTEXT_BYTES_MAX keeps the half before these two.
        block[BLOCK_BYTES - 2] = length as u8;
        block[BLOCK_BYTES - 1] = pass;
        encrypt_block(key, &mut block);
        for (byte, mask) in to[..half].iter_mut().zip(block) {
            *byte ^= mask;
        }
        clear(&mut left, &mut right);
    }
    let (first, last) = plaintext.split_at_mut(length - half);
    first.copy_from_slice(&left[..length - half]);
    last.copy_from_slice(&right[..half]);
    if is_odd {
        last[0] |= left[half - 1];
    }
}

#[cfg(test)]
#[path = "quic_lb_test.rs"]
mod quic_lb_test;
