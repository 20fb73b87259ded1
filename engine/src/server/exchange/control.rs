//! Connection-level control messages of the callback API: settings, pings and GOAWAY. HTTP/2 has
//! all of them, HTTP/3 settings and GOAWAY, HTTP/1.1 none.

use crate::driver::machine::Machine;
use bytes::Bytes;
use std::time::{Duration, Instant};
use trunkline_core::error::H2Code;
use trunkline_core::h2::frame::{AltSvcFrame, Setting};
use trunkline_core::h2::settings::Settings;
use trunkline_core::h3;
use trunkline_core::http::Event;

/// A control message received from the peer. All but [`Pong`](Self::Pong) are reported only with
/// [`ServerConfig::frame_events`](crate::ServerConfig::frame_events).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerEvent {
    /// Its settings are these now.
    Settings {
        /// The settings that have a meaning here.
        settings: Settings,
        /// Identifier and value of the settings of this frame that no other part knows, in their order, at most
        /// [`EXTENSION_SETTINGS_MAX`](trunkline_core::limits::EXTENSION_SETTINGS_MAX).
        extensions: Vec<(u16, u32)>,
    },
    /// HTTP/3: its settings, which never change.
    Http3Settings(h3::settings::Settings),
    /// It has acknowledged the oldest of our settings that it had not, this time after they were sent.
    SettingsAcknowledged(Duration),
    /// It sent a PING with these bytes, which was acknowledged.
    Ping([u8; 8]),
    /// It acknowledged our PING with these bytes, this time after it was sent.
    Pong([u8; 8], Duration),
    /// It opens no more exchanges.
    Goaway {
        /// The error code.
        code: H2Code,
        /// The highest of our streams that it served, or on HTTP/3 the first push that it takes no
        /// more; we open none.
        last: u64,
        /// Text for people.
        debug: Bytes,
    },
}

impl PeerEvent {
    /// Converts an event of the machine, if it is of this kind.
    pub(in crate::server) fn of(event: Event, machine: &mut Machine) -> Option<Self> {
        Some(match event {
            Event::SettingsReceived { extensions } => match machine.h3() {
                Some(conn) => Self::Http3Settings(conn.peer_settings()?),
                None => Self::Settings {
                    settings: machine.h2()?.reported_settings(),
                    extensions,
                },
            },
            Event::SettingsAcknowledged { round_trip } => Self::SettingsAcknowledged(round_trip),
            Event::PingReceived { opaque } => Self::Ping(opaque),
            Event::PongReceived { opaque, round_trip } => Self::Pong(opaque, round_trip),
            Event::GoingAway { code, last, debug } => Self::Goaway {
                code,
                last: last.0,
                debug,
            },
            _ => return None,
        })
    }
}

/// A control message to send with [`ConnectionHandle::send_control`](crate::server::ConnectionHandle::send_control).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlCommand {
    /// Sends a PING; [`PeerEvent::Pong`] with the same bytes is its answer.
    Ping([u8; 8]),
    /// Changes our settings; [`PeerEvent::SettingsAcknowledged`] is its answer. Settings that are fixed
    /// for a connection's life are left out.
    Settings(Vec<Setting>),
    /// No stream above `last` is served; `None`: above the newest. The connection stays open.
    Goaway {
        /// The highest stream that is served.
        last: Option<u32>,
        /// The error code.
        code: H2Code,
        /// Text for people, at most 16,376 bytes.
        debug: Bytes,
    },
    /// Another place of an origin, as the field `alt-svc` says it (RFC 7838 section 4).
    AltSvc {
        /// 0, or the stream whose request named the origin.
        stream: u32,
        /// Empty on a stream.
        origin: Bytes,
        /// The places.
        value: Bytes,
    },
    /// For which other origins this server answers (RFC 8336).
    Origins(Vec<Bytes>),
    /// The connection's receive window, in bytes from 1 to 2^31-1; a smaller one is reached by
    /// withholding.
    Window(u32),
}

impl ControlCommand {
    /// Says it, where the version has a word for it. What does not fit a frame is not said.
    pub(in crate::server) fn carry_out(&self, machine: &mut Machine, now: Instant) {
        let Some(conn) = machine.h2() else {
            return;
        };
        let refused = match self {
            Self::Ping(opaque) => {
                conn.ping(now, *opaque);
                Ok(())
            }
            Self::Settings(changes) => {
                conn.change_settings(now, changes);
                Ok(())
            }
            Self::Goaway { last, code, debug } => {
                conn.go_away(*last, *code, debug);
                Ok(())
            }
            Self::AltSvc {
                stream,
                origin,
                value,
            } => conn.announce_alt_svc(AltSvcFrame {
                stream: *stream,
                origin,
                value,
            }),
            Self::Origins(origins) => conn.announce_origins(origins),
            Self::Window(window) => conn.move_connection_window(now, *window),
        };
        // A connection that has closed meanwhile, or a value that its giver was to check.
        let _ = refused;
    }
}
