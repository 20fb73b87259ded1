//! The settings of both sides (RFC 9113 section 6.5): applies the peer's and encodes ours.

use super::frame::FRAME_BYTES_DEFAULT;
use super::frame::settings::{self as settings_frame, Setting, SettingsFrame};
use crate::error::Violation;
use crate::http::Side;
use crate::limits::{Config, EXTENSION_SETTINGS_MAX};

#[cfg(test)]
#[path = "settings_test.rs"]
mod settings_test;

/// RFC 9113 section 6.9.2: what every stream and the connection start with, in bytes.
pub const INITIAL_WINDOW_DEFAULT: u32 = 65_535;
/// RFC 9113 section 6.5.2, bytes.
pub const HEADER_TABLE_DEFAULT: u32 = 4_096;
/// Most settings that we send in one frame.
const OURS_MAX: usize = 8 + EXTENSION_SETTINGS_MAX;

/// The peer's values; before its first SETTINGS the defaults of RFC 9113 section 6.5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bytes of the HPACK table its decoder keeps; the cap of our encoder's. Default 4,096.
    pub header_table_size: u32,
    /// Whether it takes PUSH_PROMISE. Never used: we do not push.
    pub enable_push: bool,
    /// Streams that we may have open at once. Default without bound (`u32::MAX`).
    pub max_concurrent_streams: u32,
    /// Bytes that we may send on a new stream, 0..=2^31-1. Default 65,535.
    pub initial_window_size: u32,
    /// Bytes of the largest payload it takes, 2^14..=2^24-1. Default 2^14.
    pub max_frame_size: u32,
    /// Decoded bytes of the largest field section it takes; advice (RFC 9113 section 10.5.1).
    /// Default without bound (`u32::MAX`).
    pub max_header_list_size: u32,
    /// Whether we may send extended CONNECT (RFC 8441 section 3). Default false.
    pub enable_connect_protocol: bool,
    /// Whether it ignores RFC 7540 priorities (RFC 9218 section 2.1). Default false.
    pub no_rfc7540_priorities: bool,
}

/// The effects of a SETTINGS frame that other parts must handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Bytes by which the quota of every open stream moves; it may become negative
    /// (RFC 9113 section 6.9.2). The connection's does not move.
    pub window_delta: i64,
    /// The HPACK table sizes to hand to the encoder, if the frame had any.
    pub header_table: Option<HeaderTableChange>,
    /// We may have another number of streams open than before.
    pub max_concurrent_streams: bool,
}

/// RFC 7541 section 4.2: when a size changes more than once between two header blocks, the
/// smallest and the last must be signalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderTableChange {
    /// The smallest size in the frame, bytes.
    pub smallest: u32,
    /// The size that counts from now on, bytes.
    pub last: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            header_table_size: HEADER_TABLE_DEFAULT,
            enable_push: true,
            max_concurrent_streams: u32::MAX,
            initial_window_size: INITIAL_WINDOW_DEFAULT,
            max_frame_size: FRAME_BYTES_DEFAULT,
            max_header_list_size: u32::MAX,
            enable_connect_protocol: false,
            no_rfc7540_priorities: false,
        }
    }
}

impl Settings {
    /// Takes over a frame of the peer, in order (RFC 9113 section 6.5.3). `side` is ours. On an
    /// error nothing is changed. An acknowledgement changes nothing.
    ///
    /// # Errors
    /// [`Violation::SettingInvalid`] for a value that `side`'s peer must not send.
    pub fn apply(&mut self, side: Side, frame: SettingsFrame<'_>) -> Result<Changes, Violation> {
        let mut next = *self;
        let mut header_table = None;
        for setting in frame.iter() {
            next.take(side, setting)?;
            if let Setting::HeaderTableSize(size) = setting {
                let before = header_table.map_or(size, |change: HeaderTableChange| change.smallest);
                header_table = Some(HeaderTableChange {
                    smallest: before.min(size),
                    last: size,
                });
            }
        }
        let changes = Changes {
            window_delta: i64::from(next.initial_window_size) - i64::from(self.initial_window_size),
            header_table,
            max_concurrent_streams: next.max_concurrent_streams != self.max_concurrent_streams,
        };
        *self = next;
        Ok(changes)
    }

    fn take(&mut self, side: Side, setting: Setting) -> Result<(), Violation> {
        match setting {
            Setting::HeaderTableSize(bytes) => self.header_table_size = bytes,
            // RFC 9113 section 6.5.2: a server must not offer to take pushes.
            Setting::EnablePush(true) if side == Side::Client => {
                return Err(Violation::SettingInvalid);
            }
            Setting::EnablePush(on) => self.enable_push = on,
            Setting::MaxConcurrentStreams(streams) => self.max_concurrent_streams = streams,
            Setting::InitialWindowSize(bytes) => self.initial_window_size = bytes,
            Setting::MaxFrameSize(bytes) => self.max_frame_size = bytes,
            Setting::MaxHeaderListSize(bytes) => self.max_header_list_size = bytes,
            // RFC 8441 section 3: what a server has offered it must not take back. A client's
            // value means nothing.
            Setting::EnableConnectProtocol(false)
                if side == Side::Client && self.enable_connect_protocol =>
            {
                return Err(Violation::SettingInvalid);
            }
            Setting::EnableConnectProtocol(on) => self.enable_connect_protocol = on,
            // RFC 9218 section 2.1: it must not change after the first frame, and an endpoint may
            // treat that as an error. We ignore RFC 7540 priorities either way: tolerated.
            Setting::NoRfc7540Priorities(on) => self.no_rfc7540_priorities = on,
            Setting::Extension(..) => {}
        }
        Ok(())
    }
}

/// Appends the SETTINGS frame of our preface (RFC 9113 section 3.4). What has its default is left
/// out: SETTINGS_MAX_FRAME_SIZE, and mostly SETTINGS_HEADER_TABLE_SIZE.
pub fn write_ours(side: Side, config: &Config, out: &mut Vec<u8>) {
    let mut ours = [Setting::NoRfc7540Priorities(true); OURS_MAX];
    let mut count = 0;
    let mut put = |setting| {
        ours[count] = setting;
        count += 1;
    };
    match side {
        Side::Client => put(Setting::EnablePush(false)),
        Side::Server => put(Setting::MaxConcurrentStreams(
            config.limits.concurrent_streams_max,
        )),
    }
    let table_max = config.limits.header_table_bytes_max;
    if table_max != HEADER_TABLE_DEFAULT as usize {
        put(Setting::HeaderTableSize(
            u32::try_from(table_max).unwrap_or(u32::MAX),
        ));
    }
    put(Setting::InitialWindowSize(initial_window(config)));
    let section_max = config.limits.field_section_bytes_max;
    put(Setting::MaxHeaderListSize(
        u32::try_from(section_max).unwrap_or(u32::MAX),
    ));
    if side == Side::Server && config.extended_connect {
        put(Setting::EnableConnectProtocol(true));
    }
    put(Setting::NoRfc7540Priorities(true));
    let extensions = config.extension_settings.iter();
    for &(id, value) in extensions.take(EXTENSION_SETTINGS_MAX) {
        put(Setting::Extension(id, value));
    }
    settings_frame::write(&ours[..count], out);
}

/// The window that we announce for new streams: the configured one within what the protocol
/// allows, 0..=2^31-1 bytes.
pub fn initial_window(config: &Config) -> u32 {
    config.windows.stream_initial.min(crate::credit::WINDOW_MAX)
}
