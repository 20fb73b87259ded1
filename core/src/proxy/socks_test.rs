use super::*;

const NAME: Destination<'static> = Destination::Name("a.test", 443);

const LOGIN: Login<'static> = Login {
    user: b"me",
    password: b"pw",
};

/// The bytes written in answer to `value`, and the outcome, equal at every split. The machine never
/// takes more bytes than it wants.
#[track_caller]
fn talk(
    destination: Destination<'_>,
    login: Option<Login<'_>>,
    value: &[u8],
) -> (Vec<u8>, Result<bool, SocksRefusal>, usize) {
    let run = |step: usize| {
        let mut socks = Socks::new(destination, login);
        let mut written = socks.poll_write();
        let mut at = 0;
        while at < value.len() && socks.wants() > 0 {
            let take = socks.wants().min(step).min(value.len() - at);
            if let Err(refusal) = socks.handle_bytes(&value[at..at + take]) {
                return (written, Err(refusal), 0);
            }
            at += take;
            written.extend(socks.poll_write());
        }
        (written, Ok(socks.wants() == 0), value.len() - at)
    };
    let whole = run(usize::MAX);
    for step in 1..8 {
        assert_eq!(run(step), whole, "{step} bytes at a time");
    }
    whole
}

#[test]
fn without_credentials_it_offers_none_and_asks() {
    let value = [5, 0, 5, 0, 0, 1, 127, 0, 0, 1, 0, 80];
    let (written, outcome, left) = talk(NAME, None, &value);
    let mut expected = vec![5, 1, 0, 5, 1, 0, 3, 6];
    expected.extend_from_slice(b"a.test\x01\xbb");
    assert_eq!(written, expected);
    assert_eq!((outcome, left), (Ok(true), 0));
}

#[test]
fn addresses_go_in_their_own_form() {
    let value = [5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let four = Destination::Address("192.0.2.7:80".parse().unwrap());
    let (written, ..) = talk(four, None, &value);
    assert_eq!(written[3..], [5, 1, 0, 1, 192, 0, 2, 7, 0, 80]);
    let six = Destination::Address("[2001:db8::1]:80".parse().unwrap());
    let (written, ..) = talk(six, None, &value);
    assert_eq!(written[3..7], [5, 1, 0, 4]);
    assert_eq!(
        written[7..23],
        [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    );
    assert_eq!(written[23..], [0, 80]);
}

#[test]
fn user_and_password_go_out_only_when_they_are_wanted() {
    let value = [5, 2, 1, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let (written, outcome, _) = talk(NAME, Some(LOGIN), &value);
    assert_eq!(written[..4], [5, 2, 0, 2]);
    assert_eq!(written[4..11], [1, 2, b'm', b'e', 2, b'p', b'w']);
    assert_eq!(written[11..14], [5, 1, 0]);
    assert_eq!(outcome, Ok(true));
    let value = [5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let (written, outcome, _) = talk(NAME, Some(LOGIN), &value);
    assert!(!written.windows(2).any(|pair| pair == b"pw"), "{written:?}");
    assert_eq!(outcome, Ok(true));
}

#[test]
fn the_address_of_a_reply_may_be_of_any_kind_and_the_origins_bytes_stay() {
    for address in [
        &[1, 1, 2, 3, 4][..],
        &[4; 17],
        &[3, 3, b'x', b'y', b'z'],
        &[3, 0],
    ] {
        let mut value = vec![5, 0, 5, 0, 0];
        value.extend_from_slice(address);
        value.extend_from_slice(&[0, 80]);
        value.extend_from_slice(b"SSH");
        let (_, outcome, left) = talk(NAME, None, &value);
        assert_eq!((outcome, left), (Ok(true), 3), "{address:?}");
    }
}

#[test]
fn every_refusal_is_distinguished() {
    let table: &[(&str, Option<Login<'_>>, &[u8], SocksRefusal)] = &[
        ("an HTTP proxy", None, b"HTTP", SocksRefusal::Version(b'H')),
        ("a SOCKS4 proxy", None, &[0, 0x5b], SocksRefusal::Version(0)),
        (
            "no method suits",
            None,
            &[5, 0xff],
            SocksRefusal::Method(0xff),
        ),
        (
            "a method not offered",
            None,
            &[5, 2],
            SocksRefusal::Method(2),
        ),
        ("GSSAPI", Some(LOGIN), &[5, 1], SocksRefusal::Method(1)),
        (
            "a wrong password",
            Some(LOGIN),
            &[5, 2, 1, 1],
            SocksRefusal::Password,
        ),
        (
            "a password's version",
            Some(LOGIN),
            &[5, 2, 5, 0],
            SocksRefusal::Version(5),
        ),
        (
            "refused, short",
            None,
            &[5, 0, 5, 5],
            SocksRefusal::Reply(5),
        ),
        (
            "refused, whole",
            None,
            &[5, 0, 5, 4, 0, 1, 0, 0, 0, 0, 0, 0],
            SocksRefusal::Reply(4),
        ),
        (
            "an unknown kind",
            None,
            &[5, 0, 5, 0, 0, 9, 0],
            SocksRefusal::AddressKind(9),
        ),
    ];
    for (sentence, login, value, refusal) in table {
        let (_, outcome, _) = talk(NAME, *login, value);
        assert_eq!(outcome, Err(*refusal), "{sentence}");
    }
}

#[test]
fn a_reply_that_is_cut_off_is_not_a_connection() {
    let value = [5, 0, 5, 0, 0, 1, 127, 0, 0, 1, 0, 80];
    for end in 0..value.len() {
        let (_, outcome, _) = talk(NAME, None, &value[..end]);
        assert_eq!(outcome, Ok(false), "cut off after {end} bytes");
    }
}

/// Some thousand generated answers, each at every split ([`talk`]): one that is taken names the proxy's
/// version, and nothing behind it is taken.
#[test]
fn whatever_a_proxy_answers_ends_the_same_at_every_split_and_takes_nothing_of_the_origins() {
    let words: [&[u8]; 12] = [
        &[5, 0],
        &[5, 2],
        &[5, 255],
        &[1, 0],
        &[1, 1],
        &[5, 0, 0, 1],
        &[5, 0, 0, 3, 2],
        &[5, 0, 0, 4],
        &[5, 1, 0, 1],
        &[0, 0, 0, 0],
        &[4],
        b"HTTP/1.1 400",
    ];
    let mut state = 1_u64;
    let mut below = |end: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) as usize % end
    };
    let mut connected = 0;
    for _ in 0..5_000 {
        let mut value = Vec::new();
        for _ in 0..below(7) {
            value.extend_from_slice(words[below(words.len())]);
        }
        let login = (below(2) == 0).then_some(LOGIN);
        let (_, outcome, left) = talk(NAME, login, &value);
        if outcome == Ok(true) {
            connected += 1;
            assert_eq!(value[0], 5);
            // Method, then version, code, reserved, kind, length of an empty name, port.
            assert!(value.len() - left >= 2 + 7, "{value:?}");
        }
    }
    assert!(connected > 20, "{connected} answers let us in");
}
