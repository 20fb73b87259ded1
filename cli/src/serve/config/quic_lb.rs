//! The keys of QUIC-LB: connection ids by which load balancers find this server.

use crate::failure::Failure;
use crate::system::mode_for_all;
use std::path::PathBuf;
use trunkline::QuicLb;

/// Bytes of a key of AES-128.
const KEY_BYTES: usize = 16;

/// The values of a configuration file.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::serve) struct QuicLbOptions {
    pub(super) server_id: Option<Vec<u8>>,
    pub(super) nonce_bytes: usize,
    pub(super) rotation: u8,
    pub(super) key: Option<PathBuf>,
}

impl Default for QuicLbOptions {
    fn default() -> Self {
        Self {
            server_id: None,
            nonce_bytes: 8,
            rotation: 0,
            key: None,
        }
    }
}

impl QuicLbOptions {
    /// Whether one of them is not the default.
    pub(super) fn is_given(&self) -> bool {
        *self != Self::default()
    }
    /// For the library; `None`: ids say nothing to load balancers.
    ///
    /// # Errors
    /// When the file of the key cannot be used, or the server id is missing.
    pub(in crate::serve) fn settings(&self) -> Result<Option<QuicLb>, Failure> {
        let Some(server_id) = &self.server_id else {
            return match self.is_given() {
                true => Err(Failure::usage(
                    "http3.lb_server_id is missing, without which the other keys of the load balancer mean nothing",
                )),
                false => Ok(None),
            };
        };
        let settings = QuicLb::new(server_id).nonce_bytes(self.nonce_bytes);
        let mut settings = settings.rotation(self.rotation);
        if let Some(path) = &self.key {
            settings = settings.key(read_key(path)?);
        }
        let checked = settings.check();
        checked.map_err(|error| Failure::usage(format_args!("http3.lb_server_id: {error}")))?;
        Ok(Some(settings))
    }
}

/// The bytes of hexadecimal digits; `None`: they are none.
pub(super) fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok()?;
        let is_byte = pair.len() == 2 && pair.iter().all(u8::is_ascii_hexdigit);
        is_byte.then(|| u8::from_str_radix(text, 16).ok()).flatten()
    };
    pairs.map(byte).collect()
}

fn read_key(path: &PathBuf) -> Result<[u8; KEY_BYTES], Failure> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| {
        Failure::usage(format_args!("http3.lb_key {shown} cannot be read: {error}"))
    };
    let file = std::fs::metadata(path).map_err(unreadable)?;
    if let Some(mode) = mode_for_all(&file) {
        return Err(Failure::usage(format_args!(
            "http3.lb_key {shown} is open to every user (mode {mode:o}); chmod 600 {shown}"
        )));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let key = bytes_of(text.trim()).and_then(|bytes| bytes.try_into().ok());
    key.ok_or_else(|| {
        let digits = 2 * KEY_BYTES;
        Failure::usage(format_args!(
            "http3.lb_key {shown} is no key; a key is {digits} hexadecimal digits, as openssl rand -hex {KEY_BYTES} prints them"
        ))
    })
}
