use super::*;
use http::header::{CONTENT_TYPE, DATE, ETAG, SERVER};
use std::time::Duration;

const DAY: &[u8] = b"Fri, 20 Nov 2026 20:00:00 GMT";

fn extra() -> AnswerOptions {
    AnswerOptions {
        date: true,
        ..AnswerOptions::default()
    }
}

fn headers(fields: &[(HeaderName, &'static str)]) -> HeaderMap {
    let value = |value| HeaderValue::from_static(value);
    let pairs = fields
        .iter()
        .map(|(name, text)| (name.clone(), value(text)));
    pairs.collect()
}

fn head_key<'a>(headers: &'a HeaderMap, extra: &'a AnswerOptions) -> HeadKey<'a> {
    HeadKey {
        status: StatusCode::OK,
        headers,
        length: Some(5),
        version: Version::Http2,
        extra,
    }
}

/// `content-type: text/plain`, our date and a length of five bytes.
fn last(until: Option<Instant>) -> LastAnswer {
    let mut fields = Fields::new();
    fields.push(Token::CONTENT_TYPE, b"text/plain");
    fields.push(Token::DATE, DAY);
    fields.push(Token::CONTENT_LENGTH, b"5");
    let head = ResponseHead::new(200, fields, Version::Http2).expect("a valid head");
    LastAnswer::new(head, Version::Http2, until)
}

#[test]
fn an_answer_worded_alike_is_the_last_one_and_has_a_number_from_then_on() {
    let now = Instant::now();
    let mut last = last(Some(now + Duration::from_millis(1)));
    let (extra, plain) = (extra(), headers(&[(CONTENT_TYPE, "text/plain")]));
    assert_eq!(last.head().number(), None);
    for _ in 0..3 {
        assert!(last.is_again(head_key(&plain, &extra), now));
        assert!(last.head().number().is_some());
    }
    // An equal text in other memory.
    let mut other = HeaderMap::new();
    let text = String::from("text/plain");
    other.insert(CONTENT_TYPE, HeaderValue::try_from(text).expect("a value"));
    assert!(last.is_again(head_key(&other, &extra), now));
    let later = now + Duration::from_millis(1);
    assert!(
        !last.is_again(head_key(&plain, &extra), later),
        "an old date"
    );
}

#[test]
fn what_is_worded_in_another_way_is_another_answer_known_or_not() {
    let now = Instant::now();
    let (extra, plain) = (extra(), headers(&[(CONTENT_TYPE, "text/plain")]));
    let until = Some(now + Duration::from_secs(1));
    let others = [
        headers(&[]),
        headers(&[(CONTENT_TYPE, "text/html")]),
        headers(&[(ETAG, "text/plain")]),
        headers(&[(CONTENT_TYPE, "text/plain"), (SERVER, "a")]),
    ];
    let mut secret = HeaderValue::from_static("text/plain");
    secret.set_sensitive(true);
    let sensitive = HeaderMap::from_iter([(CONTENT_TYPE, secret)]);
    let elsewhere = AnswerOptions {
        alt_svc: Some("h3=\":443\"".into()),
        ..extra.clone()
    };
    let undated = AnswerOptions::default();
    let base = head_key(&plain, &extra);
    let mut all: Vec<HeadKey<'_>> = others.iter().map(|map| head_key(map, &extra)).collect();
    all.extend([
        head_key(&sensitive, &extra),
        head_key(&plain, &elsewhere),
        head_key(&plain, &undated),
        HeadKey {
            length: None,
            ..base
        },
        HeadKey {
            length: Some(6),
            ..base
        },
        HeadKey {
            status: StatusCode::CREATED,
            ..base
        },
        HeadKey {
            version: Version::Http3,
            ..base
        },
    ]);
    for (at, other) in all.into_iter().enumerate() {
        let mut fresh = last(until);
        assert!(!fresh.is_again(other, now), "{at}");
        assert!(fresh.is_again(base, now), "{at}");
        assert!(!fresh.is_again(other, now), "{at}, known");
        assert!(fresh.is_again(base, now), "{at}, known");
    }
}

#[test]
fn a_date_of_the_handlers_own_is_compared_and_does_not_get_old() {
    let now = Instant::now();
    let mut last = last(None);
    let extra = extra();
    let day = "Fri, 20 Nov 2026 20:00:00 GMT";
    let dated = headers(&[(CONTENT_TYPE, "text/plain"), (DATE, day)]);
    let next_day = "Sat, 21 Nov 2026 20:00:00 GMT";
    let later = headers(&[(CONTENT_TYPE, "text/plain"), (DATE, next_day)]);
    for _ in 0..2 {
        assert!(last.is_again(head_key(&dated, &extra), now + Duration::from_secs(9)));
        assert!(!last.is_again(head_key(&later, &extra), now));
    }
}
