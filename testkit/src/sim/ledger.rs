//! Accounts for credit by reading the frames in flight: an end never sends more than the other has
//! granted, and no grant is out of its range.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use trunkline_core::h2::frame::{
    FRAME_HEADER_BYTES, FrameHeader, Setting, SettingsFrame, flag, kind,
};
use trunkline_core::http::Side;

const PREFACE_BYTES: usize = 24;
/// RFC 9113 section 6.9.2: before any SETTINGS.
const WINDOW_INITIAL: u64 = 65_535;
/// RFC 9113 section 6.9.1.
const WINDOW_MAX: u64 = (1 << 31) - 1;
/// A piggybacked update grants at least a quarter of the smallest quantum, 16 KiB.
const INCREMENT_MIN: u64 = 4 * 1024;
/// Smaller ones come once in 5 s at most, less what the one before waited to be written.
const HELD_BACK_MIN: Duration = Duration::from_secs(4);

/// One end's output on a connection so far.
#[derive(Debug, Default)]
pub struct Written {
    past_preface: bool,
    /// DATA bytes by stream; stream 0 is their sum.
    data: BTreeMap<u32, u64>,
    /// Increments by stream; stream 0 is the connection.
    granted: BTreeMap<u32, u64>,
    /// When a stream last got an increment below [`INCREMENT_MIN`].
    small_at: BTreeMap<u32, Instant>,
    /// Streams that got a small increment soon after another.
    announced: BTreeSet<u32>,
    /// The largest initial window that this end has announced.
    initial_max: u64,
    /// WINDOW_UPDATE frames.
    pub window_updates: u64,
    /// As above, by stream; stream 0 is the connection.
    updates: BTreeMap<u32, u64>,
    /// PING frames that ask.
    pub pings: u64,
    /// RST_STREAM frames.
    pub resets: u64,
    /// Acknowledgements of SETTINGS.
    pub settings_acks: usize,
    /// DATA frames.
    pub data_frames: u64,
    /// Streams that this end has ended.
    pub ended: BTreeSet<u32>,
}

/// Both ends of one HTTP/2 connection.
#[derive(Debug, Default)]
pub struct Ledger {
    /// The client's output.
    pub client: Written,
    /// The server's output.
    pub server: Written,
}

impl Ledger {
    /// Books whole frames that `side` has written.
    pub fn record(&mut self, now: Instant, side: Side, mut bytes: &[u8]) {
        let (own, peer) = match side {
            Side::Client => (&mut self.client, &self.server),
            Side::Server => (&mut self.server, &self.client),
        };
        if side == Side::Client && !own.past_preface && !bytes.is_empty() {
            own.past_preface = true;
            bytes = &bytes[PREFACE_BYTES..];
        }
        while let Some((head, rest)) = bytes.split_first_chunk::<FRAME_HEADER_BYTES>() {
            let header = FrameHeader::parse(head);
            let (payload, rest) = rest.split_at(header.len as usize);
            own.record(now, header, payload, peer);
            bytes = rest;
        }
        assert!(bytes.is_empty(), "an outbox ends within a frame");
    }
}

impl Written {
    /// DATA bytes written.
    pub fn data_bytes(&self) -> u64 {
        self.data.get(&0).copied().unwrap_or(0)
    }
    /// WINDOW_UPDATE frames written by stream; stream 0 is the connection.
    pub fn updates_by_stream(&self) -> &BTreeMap<u32, u64> {
        &self.updates
    }

    fn record(&mut self, now: Instant, header: FrameHeader, payload: &[u8], peer: &Self) {
        if matches!(header.kind, kind::DATA | kind::HEADERS) && header.has(flag::END_STREAM) {
            self.ended.insert(header.stream);
        }
        match header.kind {
            kind::DATA => self.record_data(header, peer),
            kind::WINDOW_UPDATE => self.record_update(now, header, payload, peer),
            kind::SETTINGS if header.has(flag::ACK) => self.settings_acks += 1,
            kind::SETTINGS => {
                let frame = SettingsFrame::parse(header, payload).expect("SETTINGS are valid");
                for setting in frame.iter() {
                    if let Setting::InitialWindowSize(bytes) = setting {
                        self.initial_max = self.initial_max.max(u64::from(bytes));
                    }
                }
            }
            kind::PING if !header.has(flag::ACK) => self.pings += 1,
            kind::RST_STREAM => self.resets += 1,
            _ => {}
        }
    }

    fn record_data(&mut self, header: FrameHeader, peer: &Self) {
        self.data_frames += 1;
        for stream in [0, header.stream] {
            let sent = self.data.entry(stream).or_default();
            *sent += u64::from(header.len);
            let granted = peer.granted_on(stream);
            assert!(
                *sent <= granted,
                "credit: {sent} bytes sent on stream {stream}, {granted} granted"
            );
        }
    }

    fn record_update(&mut self, now: Instant, header: FrameHeader, payload: &[u8], peer: &Self) {
        self.window_updates += 1;
        let increment = u32::from_be_bytes(payload.try_into().expect("four bytes"));
        let (increment, stream) = (u64::from(increment), header.stream);
        assert!(
            (1..=WINDOW_MAX).contains(&increment),
            "an increment of {increment} on stream {stream}"
        );
        *self.granted.entry(stream).or_default() += increment;
        *self.updates.entry(stream).or_default() += 1;
        let used = peer.data.get(&stream).copied().unwrap_or(0);
        let window = self.granted_on(stream) - used;
        assert!(
            window <= WINDOW_MAX,
            "a window of {window} on stream {stream}"
        );
        // The quantum of a small window is half of it.
        let initial = match stream {
            0 => WINDOW_INITIAL,
            _ => self.initial_max,
        };
        if increment < INCREMENT_MIN.min(initial / 8) {
            let before = self.small_at.insert(stream, now);
            // Once per stream the window is opened to the length that the head announces, which
            // may be little more than it is.
            assert!(
                before.is_none_or(|at| now - at >= HELD_BACK_MIN) || self.announced.insert(stream),
                "small increments on stream {stream} in a row, the last of {increment}"
            );
        }
    }

    fn granted_on(&self, stream: u32) -> u64 {
        let initial = match stream {
            0 => WINDOW_INITIAL,
            _ => self.initial_max.max(WINDOW_INITIAL),
        };
        initial + self.granted.get(&stream).copied().unwrap_or(0)
    }
}
