//! Bytes of proxies: the machines of CONNECT, SOCKS5 and the PROXY protocol end alike at every split, take no byte of
//! what comes behind, and agree with a second reader of the same bytes.

use super::Input;
use std::time::Instant;
use trunkline_core::limits::PROXY_HEADER_TLV_BYTES_MAX;
use trunkline_core::proxy::{
    Connect, ConnectRefusal, Destination, Login, ProxyHeader, ProxyHeaderError, ProxyHeaderReader,
    ProxyHeaderVersion, Socks, SocksRefusal,
};

/// An HTTP proxy's answer to CONNECT, behind which its connection ends.
pub fn proxy_connect(data: &[u8]) {
    let input = Input::new(data);
    let answer = input.wire;
    let whole = tunnel(&mut [answer].into_iter());
    let mut cut = input;
    let mut pieces = std::iter::from_fn(|| cut.piece().map(|(piece, _)| piece));
    assert_eq!(tunnel(&mut pieces), whole, "cut by the control bytes");
    assert_eq!(tunnel(&mut answer.chunks(1)), whole, "byte by byte");
    match &whole {
        Ok(rest) => {
            let head = answer.strip_suffix(rest.as_slice());
            let head = head.expect("the origin's bytes are the last of the proxy's");
            // RFC 9112 section 2.2: a blank line ends the head; a lone line feed may stand for it.
            assert!(head.ends_with(b"\n"), "the head has no end: {head:?}");
            assert!(find(answer, b"HTTP/1.").is_some());
            // RFC 9110 section 9.3.6: a tunnel needs a 2xx, whatever interim responses came before.
            assert!(find(head, b" 2").is_some(), "no 2xx in {head:?}");
        }
        Err(ConnectRefusal::Status { status, .. }) => {
            assert!((100..=999).contains(status));
            assert!(status / 100 != 2 || *status == 204, "{status} is a tunnel");
        }
        Err(_) => {}
    }
    // An answer that is cut off is no tunnel with other bytes of the origin.
    if let Ok(rest) = &whole
        && rest.is_empty()
        && let Some((_, short)) = answer.split_last()
    {
        assert!(tunnel(&mut [short].into_iter()).is_err(), "one byte less");
    }
}

fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    bytes.windows(word.len()).position(|part| part == word)
}

/// The origin's bytes behind the answer, or why there is no tunnel.
fn tunnel(pieces: &mut dyn Iterator<Item = &[u8]>) -> Result<Vec<u8>, ConnectRefusal> {
    let now = Instant::now();
    let connect = Connect::new(now, "a.test:443", Some(b"Basic eDp5"), &[]);
    let mut connect = connect.expect("a host and a port");
    assert!(connect.poll_write(now).starts_with(b"CONNECT a.test:443 "));
    let mut outcome: Option<Result<Vec<u8>, ConnectRefusal>> = None;
    for piece in pieces {
        match &mut outcome {
            Some(Ok(rest)) => rest.extend_from_slice(piece),
            Some(Err(_)) => break,
            none => {
                let taken = connect.handle_bytes(now, piece);
                *none = taken.map(|outcome| outcome.map(|rest| rest.to_vec()));
                assert!(connect.poll_write(now).is_empty(), "it asks once");
            }
        }
    }
    outcome.unwrap_or_else(|| connect.handle_close(now).map(|rest| rest.to_vec()))
}

/// A SOCKS5 proxy's answers. The first control byte says whether there are a user and a password.
pub fn proxy_socks(data: &[u8]) {
    let mut input = Input::new(data);
    let login = (input.choice() & 0x80 != 0).then_some(Login {
        user: b"user",
        password: b"password",
    });
    let answers = input.wire;
    let expected = read_socks(answers, login.is_some());
    assert_eq!(handshake(login, &mut || usize::MAX, answers), expected);
    assert_eq!(handshake(login, &mut || 1, answers), expected);
    let mut by_control = || usize::from(input.choice() & 31).max(1);
    assert_eq!(handshake(login, &mut by_control, answers), expected);
}

/// The end of a handshake: the bytes of a proxy that make a connection, or `None` while some are missing.
type SocksOutcome = Result<Option<usize>, SocksRefusal>;

/// The outcome by the machine, which gets at most `step` bytes at a time.
fn handshake(
    login: Option<Login<'_>>,
    step: &mut dyn FnMut() -> usize,
    answers: &[u8],
) -> SocksOutcome {
    let mut socks = Socks::new(Destination::Name("a.test", 443), login);
    let mut sent = socks.poll_write();
    let mut at = 0;
    while socks.wants() > 0 {
        if at == answers.len() {
            return Ok(None);
        }
        let take = socks.wants().min(step()).min(answers.len() - at);
        socks.handle_bytes(&answers[at..at + take])?;
        at += take;
        sent.extend(socks.poll_write());
    }
    let request = b"\x05\x01\x00\x03\x06a.test\x01\xbb";
    assert!(sent.ends_with(request), "connected without a request");
    Ok(Some(at))
}

/// The outcome by RFC 1928 and RFC 1929, from all bytes at once.
fn read_socks(answers: &[u8], has_login: bool) -> SocksOutcome {
    let mut rest = answers;
    let mut next = || -> Option<u8> {
        let (&first, behind) = rest.split_first()?;
        rest = behind;
        Some(first)
    };
    macro_rules! byte {
        () => {
            match next() {
                Some(byte) => byte,
                None => return Ok(None),
            }
        };
    }
    // Version and method (RFC 1928 section 3).
    match byte!() {
        5 => {}
        other => return Err(SocksRefusal::Version(other)),
    }
    match (byte!(), has_login) {
        (0, _) => {}
        (2, true) => {
            // Version and status (RFC 1929 section 2).
            match byte!() {
                1 => {}
                other => return Err(SocksRefusal::Version(other)),
            }
            if byte!() != 0 {
                return Err(SocksRefusal::Password);
            }
        }
        (method, _) => return Err(SocksRefusal::Method(method)),
    }
    // Version, code, reserved, kind, address, port (RFC 1928 section 6).
    match byte!() {
        5 => {}
        other => return Err(SocksRefusal::Version(other)),
    }
    match byte!() {
        0 => {}
        code => return Err(SocksRefusal::Reply(code)),
    }
    let _reserved = byte!();
    let kind = byte!();
    // The machine looks at the kind with the byte behind it, a name's length.
    let first = byte!();
    let behind = match kind {
        1 => 3,
        3 => usize::from(first),
        4 => 15,
        other => return Err(SocksRefusal::AddressKind(other)),
    };
    for _ in 0..behind + 2 {
        byte!();
    }
    Ok(Some(answers.len() - rest.len()))
}

/// A header of the PROXY protocol with the client's bytes behind it, at once, byte by byte, and in other pieces.
pub fn proxy_header(data: &[u8]) {
    let mut input = Input::new(data);
    let bytes = input.wire;
    let expected = read_header(&mut || usize::MAX, bytes);
    assert_eq!(read_header(&mut || 1, bytes), expected);
    let mut by_control = || usize::from(input.choice() & 31).max(1);
    assert_eq!(read_header(&mut by_control, bytes), expected);
    let Ok(Some((header, length))) = expected else {
        return;
    };
    assert!(
        length <= 16 + 216 + PROXY_HEADER_TLV_BYTES_MAX,
        "{length} bytes"
    );
    for version in [ProxyHeaderVersion::V1, ProxyHeaderVersion::V2] {
        let again = header.encode(version);
        let found = read_header(&mut || usize::MAX, &again);
        assert_eq!(found, Ok(Some((header, again.len()))));
    }
}

type HeaderOutcome = Result<Option<(ProxyHeader, usize)>, ProxyHeaderError>;

/// The header and its length; `None` while bytes are missing.
fn read_header(step: &mut dyn FnMut() -> usize, bytes: &[u8]) -> HeaderOutcome {
    let mut reader = ProxyHeaderReader::new();
    let mut at = 0;
    while reader.wants() > 0 {
        if at == bytes.len() {
            return Ok(None);
        }
        let take = reader.wants().min(step()).min(bytes.len() - at);
        reader.handle_bytes(&bytes[at..at + take])?;
        at += take;
    }
    Ok(reader.header().map(|header| (header, at)))
}
