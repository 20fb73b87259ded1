//! The bodies of the fuzz targets. `fuzz/fuzz_targets/*.rs` calls them with the fuzzer's input,
//! `tests/fuzz_seeds.rs` with the seeds: one set of rules for both.
//!
//! An input is `[n, n control bytes, wire bytes]`. The control bytes say how the wire bytes are cut
//! and what happens between two cuts; without any, all bytes arrive at once.

mod application;
mod capsules;
mod compress;
mod conn;
mod generated;
mod h1_end;
mod h2;
mod h3;
mod proxies;
mod session;
mod values;
mod written;

pub use capsules::capsules;
pub use compress::hpack::hpack;
pub use compress::qpack::qpack;
pub use conn::{h1_body, h1_head, h2_conn_client, h2_conn_server};
pub use generated::Generator;
pub use h1_end::h1_end;
pub use h2::control::h2_control;
pub use h2::frames::h2_frames;
pub use h2::heads::h2_heads;
pub use h3::conn::{h3_conn_client, h3_conn_server};
pub use h3::control::h3_control;
pub use h3::frames::h3_frames;
pub use h3::heads::h3_heads;
pub use proxies::{proxy_connect, proxy_header, proxy_socks};
pub use session::h2_session;
pub use values::{alt_svc, priority};

/// A target: its name and its body.
pub type Target = (&'static str, fn(&[u8]));

/// Every target, named as in `fuzz/fuzz_targets` and `fuzz/seeds`.
pub const TARGETS: &[Target] = &[
    ("alt_svc", alt_svc),
    ("priority", priority),
    ("h1_end", h1_end),
    ("capsules", capsules),
    ("h1_body", h1_body),
    ("h1_head", h1_head),
    ("h2_conn_client", h2_conn_client),
    ("h2_conn_server", h2_conn_server),
    ("h2_control", h2_control),
    ("h2_frames", h2_frames),
    ("h2_heads", h2_heads),
    ("h2_session", h2_session),
    ("h3_conn_client", h3_conn_client),
    ("h3_conn_server", h3_conn_server),
    ("h3_control", h3_control),
    ("h3_frames", h3_frames),
    ("h3_heads", h3_heads),
    ("hpack", hpack),
    ("proxy_connect", proxy_connect),
    ("proxy_header", proxy_header),
    ("proxy_socks", proxy_socks),
    ("qpack", qpack),
];

/// An input, taken apart.
#[derive(Clone, Copy, Debug)]
struct Input<'a> {
    control: &'a [u8],
    wire: &'a [u8],
    turn: usize,
}

impl<'a> Input<'a> {
    fn new(data: &'a [u8]) -> Self {
        let (&count, rest) = data.split_first().unwrap_or((&0, &[]));
        let (control, wire) = rest.split_at(rest.len().min(usize::from(count)));
        Self {
            control,
            wire,
            turn: 0,
        }
    }
    /// The next control byte; they repeat, and without any it is 0.
    fn choice(&mut self) -> u8 {
        let byte = self
            .control
            .get(self.turn % self.control.len().max(1))
            .copied();
        self.turn += 1;
        byte.unwrap_or(0)
    }
    /// The next piece of the wire and the choice that cut it: its lower five bits are the
    /// length, 0 for all that is left.
    fn piece(&mut self) -> Option<(&'a [u8], u8)> {
        if self.wire.is_empty() {
            return None;
        }
        let choice = self.choice();
        let len = match usize::from(choice & 31) {
            0 => self.wire.len(),
            len => len.min(self.wire.len()),
        };
        let (piece, rest) = self.wire.split_at(len);
        self.wire = rest;
        Some((piece, choice))
    }
}
