//! The settings of a session, from JavaScript, which has checked them.

use serde::Deserialize;
use std::sync::Arc;
use trunkline::core::limits::{Config, Limits, Timeouts, Windows};

/// Bytes of the largest field section that is announced: one fits the area of events.
pub(super) const SECTION_BYTES_MAX: usize = 128 * 1024;
/// Fields of a head: the default of node:http2.
const HEADER_LIST_PAIRS_MAX: usize = 128;
/// Bytes of a body that wait in a machine before its writer waits too.
const SEND_AHEAD_BYTES: usize = 64 * 1024;

/// By the names of node:http2; an absent one keeps the default.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Settings {
    header_table_size: Option<usize>,
    initial_window_size: Option<u32>,
    max_header_list_size: Option<usize>,
    max_header_list_pairs: Option<usize>,
    peer_max_concurrent_streams: Option<u32>,
    max_session_invalid_frames: Option<u32>,
    max_settings: Option<u32>,
    connection_window_size: Option<u32>,
    max_deflate_dynamic_table_size: Option<usize>,
    /// Identifier and value of settings of extensions.
    extension_settings: Vec<(u16, u32)>,
}

impl Settings {
    /// The machine's. Nothing ends by itself: a session of node:http2 has no timeout but its user's.
    pub(super) fn config(self) -> Arc<Config> {
        let defaults = Limits::default();
        let limits = defaults
            .clone()
            .with_header_table_bytes_max(
                self.header_table_size
                    .unwrap_or(defaults.header_table_bytes_max),
            )
            .with_field_section_bytes_max(
                self.max_header_list_size
                    .unwrap_or(defaults.field_section_bytes_max)
                    .min(SECTION_BYTES_MAX),
            )
            .with_field_count_max(self.max_header_list_pairs.unwrap_or(HEADER_LIST_PAIRS_MAX))
            .with_early_streams_max(self.peer_max_concurrent_streams.unwrap_or(100))
            .with_stream_errors_max(self.max_session_invalid_frames.unwrap_or(u32::MAX))
            .with_settings_per_frame_max(self.max_settings.unwrap_or(u32::MAX))
            .with_encoder_table_bytes_max(
                self.max_deflate_dynamic_table_size
                    .unwrap_or(defaults.encoder_table_bytes_max),
            )
            // The server's limit alone counts.
            .with_concurrent_streams_max(u32::MAX)
            .with_send_buffer_bytes_max(SEND_AHEAD_BYTES);
        let mut windows = Windows::auto();
        windows.stream_initial = 65_535;
        if let Some(bytes) = self.initial_window_size {
            windows.stream_initial = bytes;
            windows.stream_max = bytes;
            windows.auto = false;
        }
        if let Some(bytes) = self.connection_window_size {
            windows.connection = bytes;
        }
        Arc::new(
            Config::default()
                .with_limits(limits)
                .with_timeouts(Timeouts::none())
                .with_windows(windows)
                .with_extension_settings(self.extension_settings)
                .with_frame_events(true),
        )
    }
}
