//! Event streams, whole and split at every byte.

use super::{EVENT_BYTES_MAX, ID_BYTES_MAX, Parser, TooLong};
use std::time::Duration;

/// Name, data and id of each event.
type Seen = Vec<(String, String, String)>;

fn parse(pieces: &[&[u8]]) -> (Seen, Parser) {
    let (mut parser, mut seen) = (Parser::default(), Vec::new());
    for piece in pieces {
        let mut rest = *piece;
        while let Some(event) = parser.next_event(&mut rest).unwrap() {
            seen.push((event.name, event.data, event.id));
        }
        assert!(rest.is_empty(), "{rest:?}");
    }
    (seen, parser)
}

fn event(name: &str, data: &str, id: &str) -> (String, String, String) {
    (name.to_owned(), data.to_owned(), id.to_owned())
}

#[test]
fn events_are_the_same_however_their_bytes_are_split() {
    let text = "\u{feff}data: a\n\n: comment\nevent: add\ndata: b\ndata:  c\nid: 7\nretry: 250\n\n\
                data\r\rid\r\ndata: ä\r\n\r\ndata: cut off";
    let expected = [
        event("message", "a", ""),
        event("add", "b\n c", "7"),
        event("message", "", "7"),
        event("message", "ä", ""),
    ];
    let bytes = text.as_bytes();
    for at in 0..=bytes.len() {
        let (seen, mut parser) = parse(&[&bytes[..at], &bytes[at..]]);
        assert_eq!(seen, expected, "split at {at}");
        assert_eq!(parser.take_retry(), Some(Duration::from_millis(250)));
        assert_eq!(parser.take_retry(), None);
        assert_eq!(parser.last_id(), Some(""));
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(parse(&single).0, expected);
}

#[test]
fn lines_that_mean_nothing_give_no_event() {
    for text in [
        "\n\n\n",
        "event: x\n\n",
        "id: 1\n\n",
        "unknown: 1\n\n",
        ":\n\n",
        "data: a\n",
    ] {
        assert!(parse(&[text.as_bytes()]).0.is_empty(), "{text:?}");
    }
    let (_, mut parser) = parse(&[b"retry: 1x\nretry:\nretry: -1\nid: a\0b\n\n"]);
    assert_eq!((parser.take_retry(), parser.last_id()), (None, None));
    let (_, mut parser) = parse(&[b"retry: 99999999999999999999999\n"]);
    assert_eq!(parser.take_retry(), Some(Duration::from_secs(3600)));
}

#[test]
fn an_event_without_end_is_broken_off_at_its_bound() {
    let mut parser = Parser::default();
    let mut feed = |mut bytes: &[u8]| parser.next_event(&mut bytes);
    let piece = vec![b'x'; EVENT_BYTES_MAX / 4 - 2];
    for _ in 0..4 {
        assert_eq!(feed(b"data:"), Ok(None));
        assert_eq!(feed(&piece[..piece.len() - 5]), Ok(None));
        assert_eq!(feed(b"\n"), Ok(None));
    }
    assert_eq!(feed(&[b'y'; 100]), Err(TooLong::Event));
}

#[test]
fn events_behind_the_next_one_wait_as_bytes() {
    let mut parser = Parser::default();
    let mut rest: &[u8] = b"id: a\n\ndata: 1\n\ndata: 2\n\ndata: 3";
    let first = parser.next_event(&mut rest).unwrap().unwrap();
    assert_eq!((&*first.data, &*first.id), ("1", "a"));
    assert_eq!(rest, b"data: 2\n\ndata: 3");
}

#[test]
fn the_id_of_an_event_counts_from_its_end_on() {
    let (_, parser) = parse(&[b"id: a\ndata: 1\n\nid: b\ndata: 2\n"]);
    assert_eq!(parser.last_id(), Some("a"));
    let (_, parser) = parse(&[b"id: a\ndata: 1\n\nid: b\n\n"]);
    assert_eq!(parser.last_id(), Some("b"));
}

#[test]
fn an_id_is_no_longer_than_a_server_takes_back() {
    let first = |length: usize| {
        let text = format!("id: {}\ndata\n\n", "x".repeat(length));
        Parser::default().next_event(&mut text.as_bytes())
    };
    let event = first(ID_BYTES_MAX).unwrap().unwrap();
    assert_eq!(event.id.len(), ID_BYTES_MAX);
    assert_eq!(first(ID_BYTES_MAX + 1), Err(TooLong::Id));
}
