//! The header of the PROXY protocol, versions 1 and 2: the addresses of a client, which a proxy or load balancer
//! writes in front of the bytes that it forwards (<https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt>).
//! [`ProxyHeaderReader`] is a server's side, [`ProxyHeader::encode`] a proxy's.

use crate::limits::{PROXY_HEADER_TLV_BYTES_MAX, PROXY_HEADER_V1_BYTES_MAX};
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// Section 2.2: the first 12 bytes of version 2.
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// Section 2.1: the first bytes of version 1.
const NAME: &[u8] = b"PROXY ";
/// Section 2.2: the signature, version and command, family, and the length of the rest.
const FIXED_BYTES: usize = 16;
/// The shortest header of all: `PROXY UNKNOWN` and the end of its line.
const SHORTEST_BYTES: usize = 15;
/// Section 2.2: the addresses of Unix sockets, the longest that there are.
const UNIX_ADDRESSES_BYTES: usize = 216;
/// Section 2.2.3: the type of the checksum.
const CRC32C_TYPE: u8 = 3;

/// The version of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyHeaderVersion {
    /// A line of text.
    V1,
    /// Binary.
    V2,
}

/// A header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxyHeader {
    /// The addresses of the client and of the server that the client connected to. `None`: the connection is the proxy's own
    /// (`LOCAL`, for example to learn whether the server lives), or the header names no Internet address: the
    /// addresses of the connection itself count.
    pub addresses: Option<(SocketAddr, SocketAddr)>,
}

/// Why bytes are no header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyHeaderError {
    /// The bytes begin neither with `PROXY ` nor with the signature of version 2.
    Missing,
    /// The line of version 1 does not end within 107 bytes.
    LineTooLong,
    /// The line of version 1 is not as section 2.1 has it.
    Line,
    /// This byte of version 2 is not version 2 with the command LOCAL or PROXY.
    Command(u8),
    /// This byte of version 2 is no family and transport.
    Family(u8),
    /// The addresses and TLVs of version 2 have this number of bytes: too few for the family, or more than we take.
    Length(u16),
    /// A TLV of version 2 goes beyond the header.
    Tlv,
    /// The checksum of version 2 is wrong.
    Checksum,
}

impl fmt::Display for ProxyHeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => {
                f.write_str("the connection does not begin with a header of the PROXY protocol")
            }
            Self::LineTooLong => write!(
                f,
                "the PROXY line does not end within {PROXY_HEADER_V1_BYTES_MAX} bytes"
            ),
            Self::Line => f.write_str(
                "the PROXY line is neither UNKNOWN nor TCP4 or TCP6 with two addresses and two ports",
            ),
            Self::Command(byte) => write!(
                f,
                "the PROXY header has version and command {byte:#04x}; they must be 0x20 or 0x21"
            ),
            Self::Family(byte) => write!(
                f,
                "the PROXY header has family and transport {byte:#04x}, which there is not"
            ),
            Self::Length(bytes) => write!(
                f,
                "the PROXY header has {bytes} bytes behind its first 16: too few for its addresses, or more \
                 than {} with {PROXY_HEADER_TLV_BYTES_MAX} of TLVs",
                UNIX_ADDRESSES_BYTES + PROXY_HEADER_TLV_BYTES_MAX
            ),
            Self::Tlv => f.write_str("a TLV goes beyond the end of its PROXY header"),
            Self::Checksum => f.write_str("the checksum of the PROXY header is wrong"),
        }
    }
}

impl std::error::Error for ProxyHeaderError {}

/// Reads one header. It asks for no byte behind it, so that those of the client stay in the socket.
#[derive(Debug, Default)]
pub struct ProxyHeaderReader {
    bytes: Vec<u8>,
    header: Option<ProxyHeader>,
}

impl ProxyHeaderReader {
    /// At the first byte of a connection.
    pub fn new() -> Self {
        Self::default()
    }
    /// How many bytes to read next; 0: the header is whole.
    pub fn wants(&self) -> usize {
        if self.header.is_some() {
            return 0;
        }
        let has = self.bytes.len();
        match self.is_v2() {
            _ if has < SHORTEST_BYTES => SHORTEST_BYTES - has,
            true if has < FIXED_BYTES => FIXED_BYTES - has,
            true => FIXED_BYTES + usize::from(self.rest()) - has,
            false => self.least_of_line(),
        }
    }
    /// Bytes of the connection, at most as many as it [`wants`](Self::wants).
    ///
    /// # Errors
    /// The bytes are not a header.
    pub fn handle_bytes(&mut self, bytes: &[u8]) -> Result<(), ProxyHeaderError> {
        self.bytes.extend_from_slice(bytes);
        let has = self.bytes.len();
        if self.is_v2() {
            let shared = has.min(SIGNATURE.len());
            if self.bytes[..shared] != SIGNATURE[..shared] {
                return Err(ProxyHeaderError::Missing);
            }
            self.check_fixed()?;
            if has >= FIXED_BYTES && has == FIXED_BYTES + usize::from(self.rest()) {
                self.header = Some(read_v2(&self.bytes)?);
            }
            return Ok(());
        }
        let shared = has.min(NAME.len());
        if self.bytes[..shared] != NAME[..shared] {
            return Err(ProxyHeaderError::Missing);
        }
        let is_whole = self.bytes.ends_with(b"\r\n");
        let line = self.bytes.strip_suffix(b"\r\n").unwrap_or(&self.bytes);
        let open = line.strip_suffix(b"\r").filter(|_| !is_whole);
        if open
            .unwrap_or(line)
            .iter()
            .any(|byte| byte.is_ascii_control())
        {
            return Err(ProxyHeaderError::Line);
        }
        if has > PROXY_HEADER_V1_BYTES_MAX || has == PROXY_HEADER_V1_BYTES_MAX && !is_whole {
            return Err(ProxyHeaderError::LineTooLong);
        }
        if is_whole {
            self.header = Some(read_v1(line).ok_or(ProxyHeaderError::Line)?);
        }
        Ok(())
    }
    /// The header, once it is whole.
    pub fn header(&self) -> Option<ProxyHeader> {
        self.header
    }
    fn is_v2(&self) -> bool {
        self.bytes.first() == SIGNATURE.first()
    }
    /// The bytes behind the fixed ones, where those are there.
    fn rest(&self) -> u16 {
        match self.bytes.get(14..FIXED_BYTES) {
            Some(&[high, low]) => u16::from_be_bytes([high, low]),
            _ => 0,
        }
    }
    fn check_fixed(&self) -> Result<(), ProxyHeaderError> {
        if let Some(&command) = self.bytes.get(12)
            && !matches!(command, 0x20 | 0x21)
        {
            return Err(ProxyHeaderError::Command(command));
        }
        let is_local = self.bytes.get(12) == Some(&0x20);
        // Section 2.2: LOCAL discards the family, and what is reserved must be rejected otherwise.
        if let Some(&family) = self.bytes.get(13)
            && !is_local
            && (family >> 4 > 3 || family & 15 > 2)
        {
            return Err(ProxyHeaderError::Family(family));
        }
        let most = UNIX_ADDRESSES_BYTES + PROXY_HEADER_TLV_BYTES_MAX;
        match self.rest() {
            rest if usize::from(rest) > most => Err(ProxyHeaderError::Length(rest)),
            _ => Ok(()),
        }
    }
    /// The fewest bytes that can end the line.
    fn least_of_line(&self) -> usize {
        let last = self.bytes.last();
        if last == Some(&b'\r') {
            return 1;
        }
        let fields = self.bytes[NAME.len()..]
            .iter()
            .filter(|byte| **byte == b' ');
        let missing = match self.bytes[NAME.len()..].starts_with(b"TCP") {
            // A space and a character for each of the addresses and ports that are still to come.
            true => 2 * 4usize.saturating_sub(fields.count()) + usize::from(last == Some(&b' ')),
            false => 0,
        };
        (missing + 2).min(PROXY_HEADER_V1_BYTES_MAX - self.bytes.len())
    }
}

/// Section 2.1, without the end of the line.
fn read_v1(line: &[u8]) -> Option<ProxyHeader> {
    let line = std::str::from_utf8(line).ok()?.strip_prefix("PROXY ")?;
    let mut fields = line.split(' ');
    let kind = fields.next()?;
    if kind == "UNKNOWN" {
        return Some(ProxyHeader { addresses: None });
    }
    let mut next = || fields.next();
    let (source, destination, from, to) = (next()?, next()?, next()?, next()?);
    if next().is_some() {
        return None;
    }
    let (from, to) = (port(from)?, port(to)?);
    let addresses = match kind {
        "TCP4" => pair::<Ipv4Addr>((source, from), (destination, to))?,
        "TCP6" => pair::<Ipv6Addr>((source, from), (destination, to))?,
        _ => return None,
    };
    Some(ProxyHeader {
        addresses: Some(addresses),
    })
}

fn pair<A>(source: (&str, u16), destination: (&str, u16)) -> Option<(SocketAddr, SocketAddr)>
where
    A: FromStr + Into<std::net::IpAddr>,
{
    let address =
        |(text, port): (&str, u16)| Some(SocketAddr::new(text.parse::<A>().ok()?.into(), port));
    Some((address(source)?, address(destination)?))
}

/// Section 2.1: decimal, without leading zeros.
fn port(text: &str) -> Option<u16> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let is_padded = text.len() > 1 && text.starts_with('0');
    text.parse().ok().filter(|_| is_plain && !is_padded)
}

/// Section 2.2: a whole header, whose fixed bytes are checked.
fn read_v2(bytes: &[u8]) -> Result<ProxyHeader, ProxyHeaderError> {
    let (fixed, rest) = bytes.split_at(FIXED_BYTES);
    if fixed[12] == 0x20 {
        return Ok(ProxyHeader { addresses: None });
    }
    let needed = match fixed[13] >> 4 {
        1 => 12,
        2 => 36,
        3 => UNIX_ADDRESSES_BYTES,
        _ => 0,
    };
    let Some((block, tlvs)) = rest.split_at_checked(needed) else {
        return Err(ProxyHeaderError::Length(rest.len() as u16));
    };
    check_tlvs(bytes, FIXED_BYTES + needed, tlvs)?;
    let addresses = match fixed[13] {
        // Over TCP; datagrams and Unix sockets are not where an HTTP client is.
        0x11 => ipv4_pair(block),
        0x21 => ipv6_pair(block),
        _ => None,
    };
    Ok(ProxyHeader { addresses })
}

fn ipv4_pair(block: &[u8]) -> Option<(SocketAddr, SocketAddr)> {
    let (source, rest) = block.split_first_chunk::<4>()?;
    let (destination, ports) = rest.split_first_chunk::<4>()?;
    let (from, to) = ports_of(ports)?;
    Some((
        SocketAddr::new(Ipv4Addr::from(*source).into(), from),
        SocketAddr::new(Ipv4Addr::from(*destination).into(), to),
    ))
}

fn ipv6_pair(block: &[u8]) -> Option<(SocketAddr, SocketAddr)> {
    let (source, rest) = block.split_first_chunk::<16>()?;
    let (destination, ports) = rest.split_first_chunk::<16>()?;
    let (from, to) = ports_of(ports)?;
    Some((
        SocketAddr::new(Ipv6Addr::from(*source).into(), from),
        SocketAddr::new(Ipv6Addr::from(*destination).into(), to),
    ))
}

fn ports_of(bytes: &[u8]) -> Option<(u16, u16)> {
    match *bytes {
        [a, b, c, d] => Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))),
        _ => None,
    }
}

/// Section 2.2: each TLV lies within the header, and a checksum is right.
fn check_tlvs(whole: &[u8], mut at: usize, mut tlvs: &[u8]) -> Result<(), ProxyHeaderError> {
    while !tlvs.is_empty() {
        let [kind, high, low, rest @ ..] = tlvs else {
            return Err(ProxyHeaderError::Tlv);
        };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let Some((value, next)) = rest.split_at_checked(length) else {
            return Err(ProxyHeaderError::Tlv);
        };
        at += 3;
        if *kind == CRC32C_TYPE {
            let expected: [u8; 4] = value.try_into().map_err(|_| ProxyHeaderError::Tlv)?;
            if crc32c(whole, at) != u32::from_be_bytes(expected) {
                return Err(ProxyHeaderError::Checksum);
            }
        }
        at += length;
        tlvs = next;
    }
    Ok(())
}

/// The checksum of section 2.2.3 (RFC 4960 appendix B), with zeros in the place of its own four bytes at `at`.
fn crc32c(bytes: &[u8], at: usize) -> u32 {
    const REVERSED_POLYNOMIAL: u32 = 0x82f6_3b78;
    let own = at..at + 4;
    let bytes = bytes.iter().enumerate();
    let bytes = bytes.map(|(at, byte)| if own.contains(&at) { 0 } else { *byte });
    !bytes.fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            (sum >> 1) ^ (REVERSED_POLYNOMIAL & (sum & 1).wrapping_neg())
        })
    })
}

impl ProxyHeader {
    /// The header's bytes, to be written in front of everything else. Addresses of two families have no form: the header
    /// then names none.
    pub fn encode(&self, version: ProxyHeaderVersion) -> Vec<u8> {
        match version {
            ProxyHeaderVersion::V1 => self.encode_v1().into_bytes(),
            ProxyHeaderVersion::V2 => self.encode_v2(),
        }
    }
    fn encode_v1(&self) -> String {
        let kind = match self.addresses {
            Some((SocketAddr::V4(_), SocketAddr::V4(_))) => "TCP4",
            Some((SocketAddr::V6(_), SocketAddr::V6(_))) => "TCP6",
            _ => return "PROXY UNKNOWN\r\n".to_owned(),
        };
        let named = self.addresses.map(|(source, destination)| {
            let (from, to) = (source.port(), destination.port());
            format!("{} {} {from} {to}", source.ip(), destination.ip())
        });
        format!("PROXY {kind} {}\r\n", named.unwrap_or_default())
    }
    fn encode_v2(&self) -> Vec<u8> {
        let mut block = Vec::new();
        let family = match self.addresses {
            Some((SocketAddr::V4(source), SocketAddr::V4(destination))) => {
                block.extend(source.ip().octets());
                block.extend(destination.ip().octets());
                0x11
            }
            Some((SocketAddr::V6(source), SocketAddr::V6(destination))) => {
                block.extend(source.ip().octets());
                block.extend(destination.ip().octets());
                0x21
            }
            _ => 0,
        };
        if let Some((source, destination)) = self.addresses.filter(|_| family != 0) {
            block.extend(source.port().to_be_bytes());
            block.extend(destination.port().to_be_bytes());
        }
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend([0x21, family, 0, block.len() as u8]);
        bytes.extend(block);
        bytes
    }
}

#[cfg(test)]
#[path = "header_test.rs"]
mod header_test;
