//! Keys that seal session tickets (RFC 5077, RFC 8446 section 4.6.1): servers that have the same keys resume each
//! other's sessions. They come from a file, so that workers, processes and machines share them, and are replaced while a
//! server runs.
//!
//! A ticket is the name of its key (16 bytes), a random salt (32 bytes), and the time and the session, sealed
//! with AES-256-GCM under a key that HKDF derives from both: each ticket has a key of its own, so no nonce repeats.

use crate::error::Error;
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, Prk, Salt};
use rustls::server::ProducesTickets;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes of a key.
const TICKET_KEY_BYTES: usize = 32;
/// How long a ticket counts, seconds: 12 hours, as rustls has it. Clients get it with each ticket.
const LIFETIME_SECONDS: u32 = 12 * 60 * 60;
/// The keys of a file: a day's with one an hour, and some.
const KEYS_MAX: usize = 32;
const NAME_BYTES: usize = 16;
const SALT_BYTES: usize = 32;
const TIME_BYTES: usize = 8;

/// The keys of session tickets, for [`Tls::ticket_keys`](crate::Tls::ticket_keys). The first seals, all of them open.
/// Clones share them: [`read_again`](Self::read_again) on one holds for all, and for every server that was given one.
///
/// A key opens the tickets that it has sealed: with it connections that are resumed over TLS 1.2 can be read, and either end of
/// one that is resumed can be played. Replace keys at least daily, and delete old ones.
#[derive(Clone)]
pub struct TicketKeys(Arc<RwLock<Arc<[TicketKey]>>>);

/// A key, ready for derivations.
struct TicketKey {
    name: [u8; NAME_BYTES],
    key: Prk,
}

impl TicketKeys {
    /// From keys of 32 secret bytes, of which the first seals.
    ///
    /// # Errors
    /// There is none, or there are more than 32.
    pub fn new(keys: &[[u8; 32]]) -> Result<Self, Error> {
        let keys = prepared(keys)?;
        Ok(Self(Arc::new(RwLock::new(keys))))
    }
    /// From a file of text: a key in each line, as 64 hexadecimal digits (`openssl rand -hex 32`); empty lines and those
    /// that begin with `#` are passed over. The first key seals.
    ///
    /// # Errors
    /// Names the file, and its line: it cannot be read, other users may read or write it (Unix), a line is no key, there is
    /// none, or there are more than 32. No error contains a key.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::new(&read_file(path.as_ref())?)
    }
    /// Takes the keys that the file has now.
    ///
    /// # Errors
    /// Those of [`read`](Self::read): the keys stay as they were.
    pub fn read_again(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let keys = prepared(&read_file(path.as_ref())?)?;
        // No code panics while it holds the lock.
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = keys;
        Ok(())
    }
    fn current(&self) -> Arc<[TicketKey]> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
    /// `None`: there is no randomness.
    fn seal(&self, session: &[u8], now: u64) -> Option<Vec<u8>> {
        let keys = self.current();
        let first = keys.first()?;
        let mut salt = [0; SALT_BYTES];
        aws_lc_rs::rand::fill(&mut salt).ok()?;
        let mut sealed = [&now.to_be_bytes()[..], session].concat();
        first
            .of_ticket(&salt)?
            .seal_in_place_append_tag(once(), Aad::empty(), &mut sealed)
            .ok()?;
        Some([&first.name[..], &salt, &sealed].concat())
    }
    /// `None`: it is none of these keys', or too old.
    fn open(&self, ticket: &[u8], now: u64) -> Option<Vec<u8>> {
        let (name, rest) = ticket.split_at_checked(NAME_BYTES)?;
        let (salt, sealed) = rest.split_at_checked(SALT_BYTES)?;
        let keys = self.current();
        let key = keys.iter().find(|key| key.name == name)?;
        let mut sealed = sealed.to_vec();
        let opened = key
            .of_ticket(salt)?
            .open_in_place(once(), Aad::empty(), &mut sealed)
            .ok()?;
        let (at, session) = opened.split_first_chunk::<TIME_BYTES>()?;
        // Clocks of machines differ: a ticket from the future is a new one.
        let age = now.saturating_sub(u64::from_be_bytes(*at));
        (age <= u64::from(LIFETIME_SECONDS)).then(|| session.to_vec())
    }
}

impl TicketKey {
    fn new(key: &[u8; TICKET_KEY_BYTES]) -> Option<Self> {
        let key = Salt::new(HKDF_SHA256, b"trunkline session tickets").extract(key);
        // Longer than the name, which HKDF's length has no type for.
        let mut long = [0; TICKET_KEY_BYTES];
        derive(&key, &[b"name"], &mut long)?;
        let (name, _) = long.split_first_chunk::<NAME_BYTES>()?;
        Some(Self { name: *name, key })
    }
    /// The key of the one ticket that has this salt.
    fn of_ticket(&self, salt: &[u8]) -> Option<LessSafeKey> {
        let mut key = [0; TICKET_KEY_BYTES];
        derive(&self.key, &[b"ticket", salt], &mut key)?;
        let key = UnboundKey::new(&AES_256_GCM, &key).ok()?;
        Some(LessSafeKey::new(key))
    }
}

fn derive(key: &Prk, info: &[&[u8]], out: &mut [u8; TICKET_KEY_BYTES]) -> Option<()> {
    let expanded = key.expand(info, HKDF_SHA256).ok()?;
    expanded.fill(out).ok()
}

/// The nonce of a key that seals once.
fn once() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

fn prepared(keys: &[[u8; TICKET_KEY_BYTES]]) -> Result<Arc<[TicketKey]>, Error> {
    if keys.is_empty() || keys.len() > KEYS_MAX {
        return Err(Error::config(format!(
            "there are {} ticket keys; there must be 1 to {KEYS_MAX}",
            keys.len()
        )));
    }
    let keys: Option<Arc<[TicketKey]>> = keys.iter().map(TicketKey::new).collect();
    keys.ok_or_else(|| Error::config("no names can be derived from the ticket keys"))
}

fn read_file(path: &Path) -> Result<Vec<[u8; TICKET_KEY_BYTES]>, Error> {
    let shown = path.display();
    let unreadable = |error: io::Error| {
        Error::config(format!("the ticket key file {shown} cannot be read")).with_source(error)
    };
    let mut file = File::open(path).map_err(unreadable)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = file.metadata().map_err(unreadable)?.permissions();
        let mode = mode.mode() & 0o777;
        if mode & 0o007 != 0 {
            return Err(Error::config(format!(
                "the ticket key file {shown} is open to every user (mode {mode:o}); chmod 600 {shown}"
            )));
        }
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(unreadable)?;
    let mut keys = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let key = key_of(line).ok_or_else(|| {
            let (number, length) = (number + 1, line.chars().count());
            Error::config(format!(
                "line {number} of the ticket key file {shown} ({length} characters) is no key; a key is \
                 64 hexadecimal digits, as openssl rand -hex 32 prints them"
            ))
        })?;
        keys.push(key);
    }
    match keys.is_empty() {
        true => Err(Error::config(format!(
            "the ticket key file {shown} has no key; a key is 64 hexadecimal digits in a line"
        ))),
        false => Ok(keys),
    }
}

fn key_of(line: &str) -> Option<[u8; TICKET_KEY_BYTES]> {
    let digits = line.as_bytes();
    let mut key = [0; TICKET_KEY_BYTES];
    if digits.len() != 2 * key.len() {
        return None;
    }
    for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        *byte = u8::try_from(digit(0)? << 4 | digit(1)?).ok()?;
    }
    Some(key)
}

/// For rustls.
impl ProducesTickets for TicketKeys {
    fn enabled(&self) -> bool {
        true
    }
    fn lifetime(&self) -> u32 {
        LIFETIME_SECONDS
    }
    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.seal(plain, now())
    }
    fn decrypt(&self, cipher: &[u8]) -> Option<Vec<u8>> {
        self.open(cipher, now())
    }
}

/// Seconds since 1970, which the clocks of machines agree on.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

impl fmt::Debug for TicketKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TicketKeys({})", self.current().len())
    }
}

#[cfg(test)]
#[path = "tickets_test.rs"]
mod tickets_test;
