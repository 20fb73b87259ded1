//! Encodes connection-level control messages (settings, pings, GOAWAY) for the channel.

use crate::channel::codes::submission::control as word;
use crate::channel::codes::{completion, control_frame};
use crate::channel::ring::Entry;
use crate::channel::shared::Shared;
use bytes::Bytes;
use std::time::Duration;
use trunkline::core::error::H2Code;
use trunkline::core::h2::frame::Setting;
use trunkline::core::h2::settings::Settings;
use trunkline::core::h3;
use trunkline::server::{ControlCommand, PeerEvent};

/// Bytes of one setting (RFC 9113 section 6.5.1).
const SETTING_BYTES: usize = 6;

/// Parses a submission; `None`: it has no known meaning.
pub(crate) fn read(entry: &Entry, bytes: &[u8]) -> Option<ControlCommand> {
    Some(match entry[word::FRAME] {
        control_frame::PING => ControlCommand::Ping(bytes.try_into().ok()?),
        control_frame::SETTINGS => ControlCommand::Settings(packed_settings(bytes)),
        control_frame::GOAWAY => ControlCommand::Goaway {
            last: Some(entry[word::SECOND]).filter(|&last| last > 0),
            code: H2Code(entry[word::FIRST]),
            debug: Bytes::copy_from_slice(bytes),
        },
        control_frame::ALT_SVC => {
            let zero = bytes.iter().position(|&byte| byte == 0)?;
            ControlCommand::AltSvc {
                stream: entry[word::FIRST],
                origin: Bytes::copy_from_slice(&bytes[..zero]),
                value: Bytes::copy_from_slice(&bytes[zero + 1..]),
            }
        }
        control_frame::ORIGINS => {
            let origins = bytes.split(|&byte| byte == 0);
            ControlCommand::Origins(origins.map(Bytes::copy_from_slice).collect())
        }
        control_frame::WINDOW => ControlCommand::Window(entry[word::FIRST]),
        _ => return None,
    })
}

/// The settings of a packed list that are in their range; JavaScript has looked at them.
pub(crate) fn packed_settings(bytes: &[u8]) -> Vec<Setting> {
    let (settings, _) = bytes.as_chunks::<SETTING_BYTES>();
    let valid = settings.iter().filter_map(|&[i0, i1, v0, v1, v2, v3]| {
        let id = u16::from_be_bytes([i0, i1]);
        let value = u32::from_be_bytes([v0, v1, v2, v3]);
        let setting = Setting::parse(id, value).ok()?;
        Some(setting.unwrap_or(Setting::Extension(id, value)))
    });
    valid.collect()
}

/// Reports a control message of a connection's peer to JavaScript.
pub(crate) fn report(shared: &Shared, connection: u32, received: &PeerEvent) {
    let entry = match received {
        PeerEvent::Settings { .. } | PeerEvent::Http3Settings(_) => {
            completion::settings_received(connection)
        }
        PeerEvent::SettingsAcknowledged(time) => {
            completion::settings_acknowledged(connection, micros(*time))
        }
        PeerEvent::Ping(_) => completion::ping(connection),
        PeerEvent::Pong(_, time) => completion::pong(connection, micros(*time)),
        // A stream of HTTP/2 is below 2^31.
        PeerEvent::Goaway { code, last, .. } => {
            completion::goaway(connection, code.0, *last as u32)
        }
    };
    let described;
    let text: &[u8] = match received {
        PeerEvent::Settings {
            settings,
            extensions,
        } => {
            described = describe(settings, extensions);
            described.as_bytes()
        }
        PeerEvent::Http3Settings(settings) => {
            described = describe_http3(settings);
            described.as_bytes()
        }
        PeerEvent::SettingsAcknowledged(_) => &[],
        PeerEvent::Ping(opaque) | PeerEvent::Pong(opaque, _) => opaque,
        PeerEvent::Goaway { debug, .. } => debug,
    };
    shared.complete(entry, text, &[]);
}

/// In the order of their identifiers; behind them identifier and value of each extension's, by turns.
pub(crate) fn describe(settings: &Settings, extensions: &[(u16, u32)]) -> String {
    let [push, connect] = [settings.enable_push, settings.enable_connect_protocol].map(u32::from);
    let known = [
        settings.header_table_size,
        push,
        settings.max_concurrent_streams,
        settings.initial_window_size,
        settings.max_frame_size,
        settings.max_header_list_size,
        connect,
    ];
    let extensions = extensions
        .iter()
        .flat_map(|&(id, value)| [u32::from(id), value]);
    let all = known.into_iter().chain(extensions);
    all.map(|value| value.to_string())
        .collect::<Vec<_>>()
        .join(" ")
}

/// As `describe`, for HTTP/3, which leaves streams and windows to QUIC and has no push from
/// clients; "-" stands for an absent setting. Sizes are capped at the range of HTTP/2's.
fn describe_http3(settings: &h3::settings::Settings) -> String {
    let size = |bytes: u64| bytes.min(u64::from(u32::MAX));
    let (table, list) = (
        settings.qpack_table_bytes_max,
        settings.field_section_bytes_max,
    );
    let connect = u32::from(settings.enable_connect_protocol);
    format!("{} - - - - {} {connect}", size(table), size(list))
}

/// More than an hour is an hour.
pub(crate) fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}
