//! Sizes of receive windows and bounds of what is held to be sent, in bytes.

use super::{
    QUIC_RECEIVE_WINDOW_BYTES, QUIC_STREAM_BYTES_PER_SECOND, QUIC_STREAM_WINDOW_BYTES_MIN,
    QUIC_UNREAD_UPLOADS_DIVISOR, QUIC_UPLOAD_WINDOW_BYTES, SEND_BUDGET_BYTES,
    WINDOW_BEHIND_HEAD_BYTES,
};
use std::time::Duration;

crate::options! {
    /// Receive windows and buffers (notes on each: docs/windows.md).
    pub struct Windows {
        /// SETTINGS_INITIAL_WINDOW_SIZE: bytes that a stream may send before we have seen its reader. Range: 0 to
        /// 2^31-1; 0: nothing before its head has come, and [`WINDOW_BEHIND_HEAD_BYTES`] then. Default 65,536.
        pub stream_initial: u32 = 64 * 1024, with_stream_initial;
        /// How far a stream window may grow by itself, bytes. Range: 1 to 2^31-1. Default 16,777,216.
        pub stream_max: u32 = 16 * 1024 * 1024, with_stream_max;
        /// The connection's window, raised in the preface, bytes. Range: 1 to 2^31-1. Default 16,777,216.
        pub connection: u32 = 16 * 1024 * 1024, with_connection;
        /// Bytes that all stream windows of one client or server may borrow beyond their initial
        /// size: unread bytes stay within this and `stream_initial` per stream. What the QUIC
        /// connections of a client hold for servers beyond [`QUIC_SEND_WINDOW_BYTES`](super::QUIC_SEND_WINDOW_BYTES) comes out of it
        /// too. Range: any. Default 67,108,864.
        pub memory_budget: u64 = 64 * 1024 * 1024, with_memory_budget;
        /// Bytes that all connections of one server hold for peers that do not take them, on every
        /// version: what waits on a connection beyond [`SEND_FREE_BYTES`](super::SEND_FREE_BYTES), and over QUIC what waits for
        /// an acknowledgement beyond [`QUIC_SEND_WINDOW_BYTES`](super::QUIC_SEND_WINDOW_BYTES). While it is used up a connection's
        /// bodies are asked for more only as its bytes leave. See [`SEND_BUDGET_BYTES`]. Range: any.
        /// Default 67,108,864.
        pub send_budget: u64 = SEND_BUDGET_BYTES, with_send_budget;
        /// False: windows stay at `stream_initial` (fixed-window mode). Default true.
        pub auto: bool = true, with_auto;
        /// Fixed-window mode: a stream's window is refilled when this many bytes of it are left. Range: below
        /// `stream_initial`. Default `None`: by eighths, which keeps more grants in flight on a long path.
        pub threshold: Option<u32> = None, with_threshold;
    }
}

impl Windows {
    /// The default: stream windows grow from 64 KiB to 16 MiB with what is read.
    pub fn auto() -> Self {
        Self::default()
    }
    /// Windows of 64 KiB that never change.
    pub fn fixed_64k() -> Self {
        Self::fixed(64 * 1024, 16 * 1024 * 1024)
    }
    /// Windows of `stream` and `connection` bytes that never change; both from 1 to 2^31-1. They
    /// are filled up by eighths; set `threshold` for another rule.
    pub fn fixed(stream: u32, connection: u32) -> Self {
        Self {
            stream_initial: stream,
            stream_max: stream,
            connection,
            auto: false,
            ..Self::default()
        }
    }
    /// The bytes that a stream may send once its head has come.
    pub fn stream_first(&self) -> u32 {
        match self.stream_initial {
            0 => WINDOW_BEHIND_HEAD_BYTES,
            bytes => bytes,
        }
    }
    /// Receive window of one QUIC stream on an unmeasured path, bytes. One size for all streams of
    /// a connection, announced once: the connection's window and the users' reading bound the
    /// total.
    pub fn quic_stream(&self) -> u32 {
        let most = match self.auto {
            true => self.stream_max.max(self.stream_first()),
            false => self.stream_first(),
        };
        most.min(self.connection)
    }
    /// Receive window of the streams of a server's connection, on which clients send, bytes: no more
    /// than [`QUIC_UPLOAD_WINDOW_BYTES`], or `stream_initial` where that is more.
    pub fn quic_upload(&self) -> u32 {
        match self.auto {
            true => QUIC_UPLOAD_WINDOW_BYTES
                .max(self.stream_first())
                .min(self.quic_stream()),
            false => self.quic_stream(),
        }
    }
    /// The connection's window that unread uploads over QUIC can bring a server to, bytes: a quarter
    /// of `memory_budget` ([`QUIC_UNREAD_UPLOADS_DIVISOR`]), and no more than `connection`, to which
    /// uploads that are read bring it too. Default 16 MiB.
    pub fn quic_unread_uploads(&self) -> u32 {
        let share = self.memory_budget / QUIC_UNREAD_UPLOADS_DIVISOR;
        let share = u32::try_from(share).unwrap_or(u32::MAX);
        share.min(self.connection).max(self.quic_connection())
    }
    /// Receive window of a QUIC stream over a path of known round trip and bandwidth-delay product
    /// (0: unknown), bytes. The narrower it is, the more unread bodies fit beside one that is read;
    /// unmeasured paths get the whole of [`quic_stream`](Self::quic_stream).
    pub fn quic_stream_over(&self, round_trip: Option<Duration>, need: u32) -> u32 {
        let most = self.quic_stream();
        let Some(round_trip) = round_trip.filter(|_| self.auto) else {
            return most;
        };
        let line = round_trip.as_secs_f64() * f64::from(QUIC_STREAM_BYTES_PER_SECOND);
        // The cast saturates: what is too large for a u32 becomes its maximum.
        let wanted = (line as u32).max(need).max(QUIC_STREAM_WINDOW_BYTES_MIN);
        wanted.min(most)
    }
    /// Initial receive window of all streams of a QUIC connection together, bytes.
    pub fn quic_connection(&self) -> u32 {
        match self.auto {
            true => QUIC_RECEIVE_WINDOW_BYTES
                .max(self.stream_first())
                .min(self.connection),
            false => self.connection,
        }
    }
}

#[cfg(test)]
#[path = "windows_test.rs"]
mod windows_test;
