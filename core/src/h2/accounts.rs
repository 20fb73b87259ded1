//! A snapshot of a connection's windows, for metrics.

use super::conn::Conn;

/// The accounts of a connection. Bytes, where nothing else is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounts {
    /// The connection's receive window: bytes that the peer may send beyond those taken.
    pub receive_window: u32,
    /// How much of that it may send now.
    pub receivable: u64,
    /// Bytes received and not taken.
    pub unread: u64,
    /// Bytes that the peer lets us send now.
    pub sendable: u32,
    /// The highest stream that the peer has opened.
    pub last_peer_stream: u32,
    /// Streams with bytes that are ready to go out.
    pub streams_sending: u32,
    /// The compressor's table.
    pub encoder_table: usize,
    /// The decompressor's.
    pub decoder_table: usize,
}

impl Conn {
    /// The accounts of now.
    pub fn accounts(&self) -> Accounts {
        let window = self.connection_window();
        Accounts {
            receive_window: window.window,
            receivable: window.granted.saturating_sub(window.used),
            unread: window.unread,
            sendable: self.connection_quota(),
            last_peer_stream: self.ids.last_peer(),
            streams_sending: self.session.schedule().len(),
            encoder_table: self.encoder.table_size(),
            decoder_table: self.decoder.table_size(),
        }
    }
}
