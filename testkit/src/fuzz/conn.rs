//! Whole connections of one byte stream: the control bytes feed a machine with pieces of the input
//! and drive an application on it.

use super::Input;
use super::application::Application;
use super::written::WrittenFrames;
use std::io::IoSlice;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::error::TransportEnd;
use trunkline_core::http::Side;
use trunkline_core::limits::{Config, OUTBOX_BYTES_MAX};
use trunkline_core::{ByteMachine, h1, h2};

/// The most that the outbox may hold after one piece, bytes: its limit, one call's output, and the
/// answers to one piece, each of which is not much longer than its cause.
const OUTBOX_SLACK_BYTES: usize = 1024 * 1024;

/// An HTTP/1.1 server fed with arbitrary bytes.
pub fn h1_head(data: &[u8]) {
    let now = Instant::now();
    let conn = h1::Conn::new(Side::Server, Arc::new(Config::default()), now);
    Run::new(conn, Side::Server, now, None).all(Input::new(data));
}

/// HTTP/1.1 bodies: a client whose request waits for a response, or a server in a chunked body.
pub fn h1_body(data: &[u8]) {
    let now = Instant::now();
    let mut input = Input::new(data);
    let server = input.choice() & 0x80 != 0;
    let side = if server { Side::Server } else { Side::Client };
    let conn = h1::Conn::new(side, Arc::new(Config::default()), now);
    let mut run = Run::new(conn, side, now, None);
    if server {
        run.feed(b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
    }
    run.all(input);
}

/// An HTTP/2 server fed with arbitrary bytes behind a good preface.
pub fn h2_conn_server(data: &[u8]) {
    let now = Instant::now();
    let conn = h2::Conn::new(Side::Server, Arc::new(Config::default()), now);
    let mut run = Run::new(conn, Side::Server, now, Some(WrittenFrames::of_server()));
    run.feed(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    run.all(Input::new(data));
}

/// An HTTP/2 client with open requests, fed with arbitrary bytes behind good SETTINGS.
pub fn h2_conn_client(data: &[u8]) {
    let now = Instant::now();
    let conn = h2::Conn::new(Side::Client, Arc::new(Config::default()), now);
    let mut run = Run::new(conn, Side::Client, now, Some(WrittenFrames::of_client()));
    run.feed(b"\0\0\0\x04\0\0\0\0\0");
    run.all(Input::new(data));
}

/// One run of one machine.
struct Run<M> {
    user: Application<M>,
    written: Option<WrittenFrames>,
}

impl<M: ByteMachine> Run<M> {
    fn new(conn: M, side: Side, now: Instant, written: Option<WrittenFrames>) -> Self {
        let mut user = Application::new(conn, side, now);
        user.open_some(0);
        Self { user, written }
    }

    /// The whole input, then the end of the transport, which the first control byte chooses.
    fn all(mut self, mut input: Input<'_>) {
        let end = match input.control.first().map(|choice| choice % 3) {
            None | Some(0) => TransportEnd::InOrder,
            Some(1) => TransportEnd::Ragged,
            Some(_) => TransportEnd::Failed,
        };
        while let Some((piece, choice)) = input.piece() {
            if self.user.conn.is_closed() || self.user.upgraded {
                break;
            }
            if !self.user.conn.wants_read() {
                self.write(usize::MAX);
                self.user.consume_all();
            }
            if !self.user.conn.wants_read() {
                self.user.pass_time();
            }
            self.feed(piece);
            self.user.answer(choice);
            self.user.open_some(choice);
            match choice >> 6 {
                0 => self.write(usize::MAX),
                1 => self.write(100),
                2 => self.user.pass_time(),
                _ => self.user.consume_all(),
            }
        }
        self.finish(end);
    }

    fn feed(&mut self, piece: &[u8]) {
        let (conn, now) = (&mut self.user.conn, self.user.now);
        conn.handle_bytes(now, piece);
        let waiting = conn.poll_write(now).len();
        assert!(
            waiting <= OUTBOX_BYTES_MAX + OUTBOX_SLACK_BYTES,
            "{waiting} bytes wait"
        );
    }

    /// Writes up to `most` bytes.
    fn write(&mut self, mut most: usize) {
        loop {
            let outbox = self.user.conn.poll_write(self.user.now);
            let len = outbox.len().min(most);
            if len == 0 {
                return;
            }
            most -= len;
            if let Some(written) = &mut self.written {
                let mut slices = [IoSlice::new(&[]); 64];
                let filled = outbox.slices(&mut slices, usize::MAX);
                let mut left = len;
                for slice in &slices[..filled] {
                    let part = left.min(slice.len());
                    written.take(&slice[..part]);
                    left -= part;
                }
                outbox.advance(len - left);
            } else {
                outbox.advance(len);
            }
        }
    }

    /// The peer ends as `end` says, then the transport fails: one `Closed`, and it is the last event.
    fn finish(mut self, end: TransportEnd) {
        if self.user.upgraded {
            return;
        }
        self.user.consume_all();
        self.write(usize::MAX);
        let user = &mut self.user;
        user.now += Duration::from_millis(1);
        user.answer(0);
        user.transport_end = Some(end);
        user.conn.handle_close(user.now, end);
        user.answer(0);
        self.write(usize::MAX);
        let user = &mut self.user;
        user.conn.handle_close(user.now, TransportEnd::Failed);
        user.answer(0);
        assert!(
            user.closed.is_some() || user.upgraded,
            "the transport ended and nobody was told"
        );
        assert!(user.conn.is_closed() || user.upgraded);
    }
}
