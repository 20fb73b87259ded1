//! SETTINGS (RFC 9113 section 6.5): every value is checked before any is handed out, so that a
//! bad frame changes nothing.

use super::{FRAME_BYTES_DEFAULT, FRAME_BYTES_MAX, FrameHeader, flag, kind};
use crate::credit::WINDOW_MAX;
use crate::error::Violation;

#[cfg(test)]
#[path = "settings_test.rs"]
mod settings_test;

/// Bytes of one setting.
const SETTING_BYTES: usize = 6;

/// A setting that we know, within its range (RFC 9113 section 6.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// 0x1: bytes of the HPACK table the sender's decoder keeps at most; default 4,096.
    HeaderTableSize(u32),
    /// 0x2: whether the sender takes PUSH_PROMISE; default true.
    EnablePush(bool),
    /// 0x3: streams its peer may have open at once; default without bound.
    MaxConcurrentStreams(u32),
    /// 0x4: bytes its peer may send on a new stream, 0..=2^31-1; default 65,535.
    InitialWindowSize(u32),
    /// 0x5: bytes of the largest payload the sender takes, 2^14..=2^24-1; default 2^14.
    MaxFrameSize(u32),
    /// 0x6: decoded bytes of the largest field section the sender takes; default without bound.
    MaxHeaderListSize(u32),
    /// 0x8: whether the server takes extended CONNECT (RFC 8441 section 3); default false.
    EnableConnectProtocol(bool),
    /// 0x9: whether RFC 7540 priorities are not used (RFC 9218 section 2.1); default false.
    NoRfc7540Priorities(bool),
    /// Any other identifier: a setting of an extension (RFC 9113 section 5.5), which has no effect here.
    Extension(u16, u32),
}

impl Setting {
    /// Checks one value; `None` is a setting we do not know, which is ignored
    /// (RFC 9113 section 6.5.2).
    ///
    /// # Errors
    /// [`Violation::InitialWindowInvalid`] and [`Violation::SettingInvalid`] for a value out of its
    /// range.
    pub fn parse(id: u16, value: u32) -> Result<Option<Self>, Violation> {
        let setting = match id {
            0x1 => Self::HeaderTableSize(value),
            0x2 => Self::EnablePush(switch(value)?),
            0x3 => Self::MaxConcurrentStreams(value),
            0x4 if value > WINDOW_MAX => return Err(Violation::InitialWindowInvalid),
            0x4 => Self::InitialWindowSize(value),
            0x5 if !(FRAME_BYTES_DEFAULT..=FRAME_BYTES_MAX).contains(&value) => {
                return Err(Violation::SettingInvalid);
            }
            0x5 => Self::MaxFrameSize(value),
            0x6 => Self::MaxHeaderListSize(value),
            0x8 => Self::EnableConnectProtocol(switch(value)?),
            0x9 => Self::NoRfc7540Priorities(switch(value)?),
            _ => return Ok(None),
        };
        Ok(Some(setting))
    }

    /// The identifier and value that go on the wire.
    pub fn wire(self) -> (u16, u32) {
        match self {
            Self::HeaderTableSize(bytes) => (0x1, bytes),
            Self::EnablePush(on) => (0x2, u32::from(on)),
            Self::MaxConcurrentStreams(streams) => (0x3, streams),
            Self::InitialWindowSize(bytes) => (0x4, bytes),
            Self::MaxFrameSize(bytes) => (0x5, bytes),
            Self::MaxHeaderListSize(bytes) => (0x6, bytes),
            Self::EnableConnectProtocol(on) => (0x8, u32::from(on)),
            Self::NoRfc7540Priorities(on) => (0x9, u32::from(on)),
            Self::Extension(id, value) => (id, value),
        }
    }
}

/// A boolean setting: anything but 0 and 1 is an error (RFC 9113 section 6.5.2, RFC 8441
/// section 3, RFC 9218 section 2.1).
fn switch(value: u32) -> Result<bool, Violation> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Violation::SettingInvalid),
    }
}

/// A SETTINGS frame whose every value is within its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingsFrame<'a> {
    /// An acknowledgement; it carries no settings.
    pub ack: bool,
    payload: &'a [u8],
}

impl<'a> SettingsFrame<'a> {
    /// Reads the frame. `payload` is all of `header.len` bytes.
    ///
    /// # Errors
    /// [`Violation::FrameOnWrongStream`] on a stream; [`Violation::FrameSizeInvalid`] for an
    /// acknowledgement with a payload, or part of a setting; the errors of [`Setting::parse`].
    pub fn parse(header: FrameHeader, payload: &'a [u8]) -> Result<Self, Violation> {
        header.must_have_no_stream()?;
        let ack = header.has(flag::ACK);
        if ack && !payload.is_empty() || !payload.len().is_multiple_of(SETTING_BYTES) {
            return Err(Violation::FrameSizeInvalid);
        }
        for (id, value) in pairs(payload) {
            Setting::parse(id, value)?;
        }
        Ok(Self { ack, payload })
    }

    /// The settings we know, in the order they must be applied in (RFC 9113 section 6.5.3);
    /// one may come twice.
    pub fn iter(self) -> impl Iterator<Item = Setting> + use<'a> {
        pairs(self.payload).filter_map(|(id, value)| Setting::parse(id, value).ok().flatten())
    }

    /// Settings in the frame, those that we do not know too.
    pub fn count(self) -> usize {
        self.payload.len() / SETTING_BYTES
    }

    /// Identifier and value of the settings we do not know.
    pub fn extensions(self) -> impl Iterator<Item = (u16, u32)> + use<'a> {
        pairs(self.payload).filter(|&(id, value)| matches!(Setting::parse(id, value), Ok(None)))
    }
}

/// Identifier and value of each setting; a rest of less than six bytes is left out.
fn pairs(payload: &[u8]) -> impl Iterator<Item = (u16, u32)> + use<'_> {
    let (settings, _rest) = payload.as_chunks::<SETTING_BYTES>();
    settings.iter().map(|&[i0, i1, v0, v1, v2, v3]| {
        (
            u16::from_be_bytes([i0, i1]),
            u32::from_be_bytes([v0, v1, v2, v3]),
        )
    })
}

/// Appends a SETTINGS frame with `settings`.
pub fn write(settings: &[Setting], out: &mut Vec<u8>) {
    FrameHeader::new(kind::SETTINGS, 0, settings.len() * SETTING_BYTES).write(out);
    for setting in settings {
        let (id, value) = setting.wire();
        out.extend_from_slice(&id.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Appends an acknowledgement.
pub fn write_ack(out: &mut Vec<u8>) {
    FrameHeader::new(kind::SETTINGS, 0, 0)
        .with(flag::ACK, true)
        .write(out);
}
