//! SETTINGS (RFC 9114 section 7.2.4), ours and the peer's. One frame each way, at the start, never
//! changed.

pub(super) mod peer;

use super::frame::{kind, put_frame};
use crate::error::Violation;
use crate::http::Side;
use crate::limits::{Config, QPACK_BLOCKED_STREAMS_MAX, QPACK_TABLE_BYTES_MAX};
use crate::wire::varint;

#[cfg(test)]
#[path = "settings_test.rs"]
mod settings_test;

/// Setting identifiers (RFC 9114 section 7.2.4.1, RFC 9204 section 5, RFC 9220 section 3,
/// RFC 9297 section 2.1.1).
#[allow(missing_docs, reason = "the names are those of the RFCs")]
pub mod id {
    pub const QPACK_MAX_TABLE_CAPACITY: u64 = 0x1;
    pub const MAX_FIELD_SECTION_SIZE: u64 = 0x6;
    pub const QPACK_BLOCKED_STREAMS: u64 = 0x7;
    pub const ENABLE_CONNECT_PROTOCOL: u64 = 0x8;
    pub const H3_DATAGRAM: u64 = 0x33;
}

/// A peer's settings; the defaults before its frame, and for settings that it leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bytes that its QPACK decoder gives our table. Default 0.
    pub qpack_table_bytes_max: u64,
    /// Streams that we may make wait for the table. Default 0.
    pub qpack_blocked_streams_max: u64,
    /// Size of a field section that it takes, by RFC 9114 section 4.2.2. Default unlimited.
    pub field_section_bytes_max: u64,
    /// A server that takes extended CONNECT.
    pub enable_connect_protocol: bool,
    /// It takes HTTP datagrams.
    pub datagrams: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            qpack_table_bytes_max: 0,
            qpack_blocked_streams_max: 0,
            field_section_bytes_max: varint::MAX,
            enable_connect_protocol: false,
            datagrams: false,
        }
    }
}

impl Settings {
    /// Whether a server that took early data sent under `before` may say this now: it must not
    /// lower what the client may have used (RFC 9114 section 7.2.4.2, RFC 9297 section 2.1.1), and
    /// must keep the size of the table that the client may have filled (RFC 9204 section 3.2.3).
    ///
    /// # Errors
    /// [`Violation::SettingInvalid`] for a lower value; [`Violation::QpackDecoderStreamInvalid`]
    /// for another table size.
    pub fn check_against(&self, before: &Self) -> Result<(), Violation> {
        let is_lower = self.field_section_bytes_max < before.field_section_bytes_max
            || self.qpack_blocked_streams_max < before.qpack_blocked_streams_max
            || before.enable_connect_protocol && !self.enable_connect_protocol
            || before.datagrams && !self.datagrams;
        let table = before.qpack_table_bytes_max;
        match (is_lower, table == 0 || table == self.qpack_table_bytes_max) {
            (true, _) => Err(Violation::SettingInvalid),
            (false, false) => Err(Violation::QpackDecoderStreamInvalid),
            (false, true) => Ok(()),
        }
    }
    /// Reads the payload of a SETTINGS frame.
    ///
    /// # Errors
    /// [`Violation::FrameMalformed`] for a part of a setting; [`Violation::SettingInvalid`] for a
    /// setting of HTTP/2, a repeated one, or a value out of its range.
    pub fn parse(mut payload: &[u8]) -> Result<Self, Violation> {
        let mut settings = Self::default();
        let mut seen = Vec::new();
        while !payload.is_empty() {
            let (id, value) = take_pair(&mut payload).ok_or(Violation::FrameMalformed)?;
            seen.push(id);
            match id {
                id::QPACK_MAX_TABLE_CAPACITY => settings.qpack_table_bytes_max = value,
                id::QPACK_BLOCKED_STREAMS => settings.qpack_blocked_streams_max = value,
                id::MAX_FIELD_SECTION_SIZE => settings.field_section_bytes_max = value,
                id::ENABLE_CONNECT_PROTOCOL => settings.enable_connect_protocol = truth(value)?,
                id::H3_DATAGRAM => settings.datagrams = truth(value)?,
                // RFC 9114 sections 7.2.4.1 and 11.2.2: the settings of HTTP/2 must not come.
                0x0 | 0x2..=0x5 => return Err(Violation::SettingInvalid),
                _ => {}
            }
        }
        // RFC 9114 section 7.2.4: none comes twice. The size of the frame bounds their number.
        seen.sort_unstable();
        match seen.windows(2).any(|pair| pair[0] == pair[1]) {
            true => Err(Violation::SettingInvalid),
            false => Ok(settings),
        }
    }
}

/// Appends our SETTINGS frame.
pub fn write_ours(side: Side, config: &Config, out: &mut Vec<u8>) {
    let mut pairs = vec![
        (id::QPACK_MAX_TABLE_CAPACITY, QPACK_TABLE_BYTES_MAX as u64),
        (id::QPACK_BLOCKED_STREAMS, QPACK_BLOCKED_STREAMS_MAX as u64),
        (
            id::MAX_FIELD_SECTION_SIZE,
            config.limits.field_section_bytes_max as u64,
        ),
    ];
    if side == Side::Server && config.extended_connect {
        pairs.push((id::ENABLE_CONNECT_PROTOCOL, 1));
    }
    if config.datagrams {
        pairs.push((id::H3_DATAGRAM, 1));
    }
    write(&pairs, out);
}

/// Appends a SETTINGS frame.
pub fn write(pairs: &[(u64, u64)], out: &mut Vec<u8>) {
    let mut payload = Vec::new();
    for &(id, value) in pairs {
        varint::put(id, &mut payload);
        varint::put(value, &mut payload);
    }
    put_frame(kind::SETTINGS, &payload, out);
}

fn take_pair(payload: &mut &[u8]) -> Option<(u64, u64)> {
    let (id, at) = varint::take(payload)?;
    let (value, more) = varint::take(&payload[at..])?;
    *payload = &payload[at + more..];
    Some((id, value))
}

/// RFC 9220 section 3 and RFC 9297 section 2.1.1: 0 or 1.
fn truth(value: u64) -> Result<bool, Violation> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Violation::SettingInvalid),
    }
}
