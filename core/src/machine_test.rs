use super::*;
use crate::http::Token;
use crate::limits::Config;
use std::io::IoSlice;
use std::sync::Arc;

#[expect(
    clippy::disallowed_methods,
    reason = "virtual time needs a first instant"
)]
fn start() -> Instant {
    Instant::now()
}

/// Moves what one machine has written to the other; whether there was anything.
fn carry(now: Instant, from: &mut impl ByteMachine, to: &mut impl ByteMachine) -> bool {
    let outbox = from.poll_write(now);
    let mut slices = [IoSlice::new(&[]); 16];
    let count = outbox.slices(&mut slices, usize::MAX);
    let bytes: Vec<u8> = slices[..count]
        .iter()
        .flat_map(|slice| slice.iter().copied())
        .collect();
    outbox.advance(bytes.len());
    if !bytes.is_empty() {
        assert!(to.wants_read());
        to.handle_bytes(now, &bytes);
    }
    !bytes.is_empty()
}

/// One exchange by the verbs that all machines have: the status and the body that arrive.
fn exchange<M: ByteMachine>(mut client: M, mut server: M) -> (u16, Vec<u8>) {
    let now = start();
    let version = client.version();
    let mut fields = Fields::new();
    fields.push(Token::METHOD, b"GET");
    fields.push(Token::PATH, b"/");
    if version == Version::Http11 {
        fields.push(Token::HOST, b"example.com");
    } else {
        fields.push(Token::SCHEME, b"http");
        fields.push(Token::AUTHORITY, b"example.com");
    }
    let request = RequestHead::from_fields(fields, version).unwrap();
    let mut fields = Fields::new();
    fields.push(Token::CONTENT_LENGTH, b"5");
    let response = ResponseHead::new(200, fields, version).unwrap();
    assert!(client.capacity() > 0 && server.capacity() == 0);
    let asked = client.open(now, &request, true).unwrap();
    let (mut status, mut body) = (0, Vec::new());
    while carry(now, &mut client, &mut server) | carry(now, &mut server, &mut client) {
        while let Some(event) = server.poll_event() {
            if let Event::RequestReceived { stream, head, end } = event {
                assert!(end);
                server.recycle_head(head);
                let bytes = Bytes::from_static(b"hello");
                server.answer(now, stream, &response, bytes).unwrap();
                server.handler_done(now, stream);
            }
        }
        while let Some(event) = client.poll_event() {
            match event {
                Event::ResponseReceived { stream, head, .. } => {
                    assert_eq!(stream, asked);
                    status = head.status;
                }
                Event::BodyReceived { stream, data, .. } => {
                    client.consume(now, stream, data.len());
                    body.extend_from_slice(&data);
                }
                _ => {}
            }
        }
    }
    assert_eq!((client.active(), server.active()), (0, 0));
    assert!(!client.is_closed() && !server.is_closed());
    client.handle_close(now, TransportEnd::InOrder);
    assert!(client.is_closed());
    (status, body)
}

#[test]
fn one_exchange_takes_the_same_verbs_on_every_byte_stream() {
    let config = Arc::new(Config::default());
    let now = start();
    let h1 = |side| h1::Conn::new(side, Arc::clone(&config), now);
    let h2 = |side| h2::Conn::new(side, Arc::clone(&config), now);
    let expected = (200, b"hello".to_vec());
    assert_eq!(exchange(h1(Side::Client), h1(Side::Server)), expected);
    assert_eq!(exchange(h2(Side::Client), h2(Side::Server)), expected);
}

#[test]
fn http3_has_the_verbs_of_exchanges() {
    fn is_idle(machine: &impl Machine) -> bool {
        !machine.is_closed() && machine.active() == 0 && machine.bdp_bytes(start()) == 0
    }
    let conn = h3::Conn::new(Side::Server, Arc::new(Config::default()), start());
    assert_eq!(conn.version(), Version::Http3);
    assert!(is_idle(&conn));
}
