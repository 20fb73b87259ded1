//! Attacks of hostile servers on a client, and their bounds: rows S1 to S13 of docs/attacks.md. Each
//! case states how many pieces the client bears at most and the rule that ends it.

#[path = "h2/rig.rs"]
mod rig2;
#[path = "h3/rig.rs"]
mod rig3;

use rig2::Cut;
use std::sync::Arc;
use std::time::Instant;
use trunkline_core::error::{Closed, Violation};
use trunkline_core::h1;
use trunkline_core::h2::frame::{flag, kind};
use trunkline_core::h3::frame::kind as kind3;
use trunkline_core::http::event::ResetBy;
use trunkline_core::http::{Event, Side};
use trunkline_core::limits::{Config, INTERIM_RESPONSES_MAX};

/// A flood: what comes first, what comes again and again, after how many pieces it is over at most, and
/// by which rule.
type Flood = (&'static str, Vec<u8>, Vec<u8>, u32, Violation);

/// The rule that ended the exchange or the connection.
fn rule_of(event: &Event) -> Option<Violation> {
    match event {
        Event::Closed(Closed::ByUs(rule)) => Some(*rule),
        Event::StreamReset { reset, .. } => match reset.by {
            ResetBy::Us(rule) | ResetBy::Connection(Closed::ByUs(rule)) => Some(rule),
            _ => None,
        },
        _ => None,
    }
}

/// Feeds the flood until a rule ends it. `feed` gives what events follow.
fn is_over(flood: &Flood, mut feed: impl FnMut(&[u8]) -> Vec<Event>) {
    let (what, first, piece, most, due) = flood;
    for count in 0..=*most {
        let bytes = if count == 0 { first } else { piece };
        if let Some(rule) = feed(bytes).iter().find_map(rule_of) {
            assert_eq!(rule, *due, "{what}, after {count}");
            return;
        }
    }
    panic!("{what}: {most} pieces were borne");
}

fn over_http_1(flood: &Flood) {
    #[expect(
        clippy::disallowed_methods,
        reason = "virtual time needs one real instant to count from"
    )]
    let now = Instant::now();
    let mut conn = h1::Conn::new(Side::Client, Arc::new(Config::default()), now);
    let head = rig2::request("GET");
    conn.open(now, &head, true).unwrap();
    let sent = conn.poll_write(now);
    sent.advance(sent.len());
    is_over(flood, |bytes| {
        conn.handle_bytes(now, bytes);
        let mut events = Vec::new();
        while let Some(event) = conn.poll_event() {
            if let Event::BodyReceived { stream, data, .. } = &event {
                conn.consume(now, *stream, data.len());
            }
            events.push(event);
        }
        events
    });
}

fn over_http_2(flood: &Flood) {
    let mut rig = rig2::Rig::client(Cut::Whole);
    rig.get();
    rig.frames();
    is_over(flood, |bytes| {
        rig.sends(bytes);
        rig.events()
    });
}

/// On the stream of the request, or on another.
fn over_http_3(stream: u64, flood: &Flood) {
    let mut rig = rig3::Rig::client(rig3::Cut::Whole);
    rig.get();
    is_over(flood, |bytes| {
        rig.sends(stream, bytes);
        rig.events()
    });
}

#[test]
fn a_head_without_end_is_refused_at_its_bound_on_every_version() {
    let begun = b"HTTP/1.1 200 OK\r\nx: ".to_vec();
    let kib = vec![b'x'; 1024];
    over_http_1(&("a field", begun, kib, 65, Violation::HeadTooLarge));
    let status = b"HTTP/1.1 200 OK\r\n".to_vec();
    let field = b"a: b\r\n".to_vec();
    over_http_1(&("fields", status, field, 16_384, Violation::HeadTooLarge));
    let begun = rig2::frame(kind::HEADERS, 0, 1, &rig2::block(rig2::OK));
    for bytes in [0, 16_384] {
        let piece = rig2::continuation(1, &vec![0x88; bytes], false);
        let most = 9;
        let due = Violation::ContinuationsTooMany;
        over_http_2(&("CONTINUATION", begun.clone(), piece, most, due));
    }
    // HEADERS of 1 GiB.
    let begun = vec![1, 0xc0, 0, 0, 0, 0x40, 0, 0, 0];
    let due = Violation::FieldSectionTooLarge;
    over_http_3(0, &("a section", begun, vec![0; 1024], 129, due));
}

#[test]
fn interim_responses_without_end_are_refused_on_every_version() {
    let due = Violation::InterimTooMany;
    let early = &[(":status", "103")];
    let text = b"HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n".to_vec();
    let most = INTERIM_RESPONSES_MAX + 1;
    over_http_1(&("1xx", text.clone(), text, most, due));
    let head = rig2::headers(1, early, false);
    over_http_2(&("1xx", head.clone(), head, most, due));
    let head = rig3::headers(early);
    over_http_3(0, &("1xx", head.clone(), head, most, due));
}

#[test]
fn floods_of_a_server_of_http_2_end_at_their_bounds() {
    let head = rig2::headers(1, rig2::OK, false);
    let nothing = Vec::new();
    let padding = rig2::frame(
        kind::DATA,
        flag::PADDED,
        1,
        &[&[255][..], &[0; 255]].concat(),
    );
    let trailers = rig2::frame(
        kind::HEADERS,
        flag::END_STREAM,
        1,
        &rig2::block(&[("a", "b")]),
    );
    let answered = [head.clone(), rig2::body(1, b"x", false), trailers].concat();
    let altsvc = rig2::frame(0xa, 0, 1, b"\0\0h3=\":443\"");
    #[rustfmt::skip]
    let floods: [Flood; 10] = [
        ("SETTINGS", nothing.clone(), rig2::settings_frame(&[]), 101, Violation::PingsTooMany),
        ("PING", nothing.clone(), rig2::ping([1; 8]), 101, Violation::PingsTooMany),
        ("empty DATA", head.clone(), rig2::body(1, b"", false), 1_002, Violation::EmptyFramesTooMany),
        ("padding", head.clone(), padding, 1_002, Violation::EmptyFramesTooMany),
        ("WINDOW_UPDATE", head.clone(), rig2::window_update(0, 1), 200, Violation::WindowUpdatesTooMany),
        ("GOAWAY", nothing.clone(), rig2::goaway(1, trunkline_core::error::H2Code::NO_ERROR), 101, Violation::GlitchesTooMany),
        ("unknown", nothing.clone(), rig2::frame(0xfa, 0, 0, b""), 10_001, Violation::GlitchesTooMany),
        ("ALTSVC", head.clone(), altsvc, 10_001, Violation::GlitchesTooMany),
        ("PRIORITY", nothing, rig2::priority(1, 0), 10_001, Violation::GlitchesTooMany),
        ("trailers", answered, rig2::continuation(1, &rig2::block(&[("a", "b")]), false), 9, Violation::ContinuationsTooMany),
    ];
    for flood in &floods {
        over_http_2(flood);
    }
}

#[test]
fn floods_of_a_server_of_http_3_end_at_their_bounds() {
    let head = rig3::headers(rig3::OK);
    let unknown = rig3::frame(0x21, b"");
    let goaway = rig3::number(kind3::GOAWAY, 4);
    let glitches = Violation::GlitchesTooMany;
    over_http_3(
        0,
        &(
            "unknown frames",
            head.clone(),
            unknown.clone(),
            10_001,
            glitches,
        ),
    );
    over_http_3(
        3,
        &("unknown frames", Vec::new(), unknown, 10_001, glitches),
    );
    over_http_3(3, &("GOAWAY", Vec::new(), goaway, 10_001, glitches));
    let empty = rig3::data(b"");
    let due = Violation::EmptyFramesTooMany;
    over_http_3(0, &("empty DATA", head, empty, 1_003, due));
    let mut rig = rig3::Rig::client(rig3::Cut::Whole);
    rig.get();
    let mut stream = 3;
    let streams = ("streams", Vec::new(), vec![0x21], 1_001, glitches);
    is_over(&streams, |bytes| {
        stream += 4;
        rig.sends(stream, bytes);
        rig.wire_streams.clear();
        rig.events()
    });
}

#[test]
fn framing_of_chunks_without_end_is_refused_at_its_bound() {
    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let behind = |more: &[u8]| [&head[..], more].concat();
    #[rustfmt::skip]
    let floods: [Flood; 4] = [
        ("an extension", behind(b"1;a="), vec![b'x'; 1024], 17, Violation::ChunkExtensionTooLarge),
        ("extensions", behind(b""), b"1;a=xxxxxxxxxxx\r\nx\r\n".to_vec(), 1_366, Violation::ChunkExtensionTooLarge),
        ("a size", behind(b""), vec![b'0'; 16], 2, Violation::ChunkInvalid),
        ("trailers", behind(b"0\r\n"), b"a: b\r\n".to_vec(), 16_384, Violation::HeadTooLarge),
    ];
    for flood in &floods {
        over_http_1(flood);
    }
}

#[test]
fn a_promise_ends_the_connection() {
    let head = rig2::headers(1, rig2::OK, false);
    let payload = [&2u32.to_be_bytes()[..], &rig2::block(rig2::GET)].concat();
    let promise = rig2::frame(kind::PUSH_PROMISE, flag::END_HEADERS, 1, &payload);
    over_http_2(&("PUSH_PROMISE", head, promise, 1, Violation::PushForbidden));
    let promise = rig3::frame(5, &[&[0][..], &rig3::section(rig3::GET)].concat());
    let due = Violation::PushIdInvalid;
    over_http_3(0, &("PUSH_PROMISE", Vec::new(), promise, 1, due));
}

#[test]
fn bombs_in_an_answer_are_refused_in_bounded_memory() {
    // One entry of almost the whole table, then 4,000 references of a byte each: 16 MB.
    let mut bomb = vec![0x88, 0x40, 1, b'a', 0x7f, 0x80 + 0x51, 0x1d];
    bomb.extend_from_slice(&[b'x'; 3920]);
    bomb.extend_from_slice(&[0xbe; 4_000]);
    let flags = flag::END_HEADERS | flag::END_STREAM;
    let head = rig2::frame(kind::HEADERS, flags, 1, &bomb);
    let due = Violation::FieldSectionTooLarge;
    over_http_2(&("HPACK", Vec::new(), head, 1, due));
    let mut rig = rig3::Rig::client(rig3::Cut::Whole);
    rig.get();
    // Over QPACK: capacity 4,096, the entry, and a section that needs it.
    let mut table = vec![2, 0x3f, 0xe1, 0x1f, 0x41, b'a', 0x7f, 0x80 + 0x51, 0x1d];
    table.extend_from_slice(&[b'x'; 3920]);
    rig.sends(7, &table);
    let mut section = vec![2, 0, 0xd9];
    section.extend_from_slice(&[0x80; 4_000]);
    let head = rig3::frame(kind3::HEADERS, &section);
    is_over(&("QPACK", Vec::new(), head, 1, due), |bytes| {
        rig.sends(0, bytes);
        rig.events()
    });
}
