//! Bodies in every coding, whole and in pieces, and those that are broken.

use super::{CODINGS_MAX, asked, decompress};
use crate::body::Body;
use crate::error::ErrorKind;
use async_compression::tokio::bufread::{
    BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder,
};
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderMap as Map};
use http::{HeaderValue, Response};
use http_body::Body as _;
use std::future::poll_fn;
use std::pin::Pin;
use tokio::io::AsyncReadExt;

fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

async fn encoded(coding: &str, text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    match coding {
        "gzip" | "x-gzip" => GzipEncoder::new(text).read_to_end(&mut bytes).await,
        "br" => BrotliEncoder::new(text).read_to_end(&mut bytes).await,
        "zstd" => ZstdEncoder::new(text).read_to_end(&mut bytes).await,
        "deflate" => ZlibEncoder::new(text).read_to_end(&mut bytes).await,
        _ => DeflateEncoder::new(text).read_to_end(&mut bytes).await,
    }
    .unwrap();
    bytes
}

/// Text that no coding makes tiny.
fn text() -> Vec<u8> {
    let mut state = 1_u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b"abcdefgh"[(state >> 29) as usize]
    };
    (0..20_000).map(next).collect()
}

fn response(coding: &str, body: Body) -> Response<Body> {
    Response::builder()
        .header(CONTENT_ENCODING, coding)
        .header(CONTENT_LENGTH, "7")
        .body(body)
        .unwrap()
}

/// A body in pieces of `size` bytes, perhaps with trailers.
fn pieces(bytes: &[u8], size: usize, trailers: Option<HeaderMap>) -> Body {
    let (mut sender, body) = Body::channel();
    let parts: Vec<Bytes> = bytes.chunks(size).map(Bytes::copy_from_slice).collect();
    tokio::spawn(async move {
        for part in parts {
            if sender.send(part).await.is_err() {
                return;
            }
        }
        match trailers {
            Some(trailers) => sender.finish_with(trailers),
            None => sender.finish(),
        }
    });
    body
}

const NAMES: [(&str, &str); 6] = [
    ("gzip", "gzip"),
    ("X-GZIP", "gzip"),
    ("br", "br"),
    ("zstd", "zstd"),
    ("deflate", "deflate"),
    ("deflate", "raw"),
];

#[test]
fn every_coding_is_decompressed_whole_and_in_pieces() {
    run(async {
        let text = text();
        for (name, coding) in NAMES {
            let bytes = encoded(coding, &text).await;
            for size in [bytes.len(), 1000, 1] {
                let got = decompress(response(name, pieces(&bytes, size, None)));
                assert!(got.headers().is_empty(), "{:?}", got.headers());
                let got = got.into_body().bytes().await.unwrap();
                assert!(got == text, "{coding} in pieces of {size}");
            }
        }
    });
}

#[test]
fn codings_over_each_other_are_undone_in_reverse() {
    run(async {
        let inner = encoded("gzip", b"hello").await;
        let outer = encoded("br", &inner).await;
        let got = decompress(response("gzip, br", Body::full(outer.clone())));
        assert_eq!(got.into_body().bytes().await.unwrap(), "hello");
        // Too many, or one that is not known: as it came.
        let many = ["gzip"; CODINGS_MAX + 1].join(",");
        for coding in [many.as_str(), "gzip, compress", "identity"] {
            let got = decompress(response(coding, Body::full(outer.clone())));
            assert_eq!(got.headers()[CONTENT_ENCODING], coding);
            assert_eq!(got.into_body().bytes().await.unwrap(), outer);
        }
    });
}

#[test]
fn a_body_that_is_cut_is_an_error_wherever_it_is_cut() {
    run(async {
        for (name, coding) in NAMES {
            let bytes = encoded(coding, b"hello, hello, hello").await;
            for end in 1..bytes.len() {
                let cut = Bytes::copy_from_slice(&bytes[..end]);
                let got = decompress(response(name, Body::full(cut)));
                let outcome = got.into_body().bytes().await;
                let error = outcome.expect_err(&format!("{coding} cut at {end}"));
                assert_eq!(error.kind(), ErrorKind::Body, "{coding} {end}");
            }
        }
    });
}

#[test]
fn what_came_of_a_body_that_breaks_off_is_decompressed_in_front_of_its_error() {
    run(async {
        let text = text();
        for coding in ["gzip", "deflate"] {
            let bytes = encoded(coding, &text).await;
            let (mut sender, body) = Body::channel();
            let half = Bytes::copy_from_slice(&bytes[..bytes.len() / 2]);
            sender.send(half).await.unwrap();
            // Both are there when the body is read.
            sender.fail("it broke off");
            let mut body = decompress(response(coding, body)).into_body();
            let mut came = Vec::new();
            let error = loop {
                match body.chunk().await {
                    Ok(piece) => came.extend(piece.unwrap()),
                    Err(error) => break error,
                }
            };
            assert!(!came.is_empty() && text.starts_with(&came), "{coding}");
            assert_eq!(error.kind(), ErrorKind::Body, "{coding}");
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert_eq!(cause, "it broke off", "{coding}");
        }
    });
}

#[test]
fn bytes_that_are_no_coding_and_bytes_behind_one_are_errors() {
    run(async {
        for (name, coding) in NAMES {
            let mut bytes = encoded(coding, b"hello").await;
            bytes.extend_from_slice(b"more");
            let got = decompress(response(name, Body::full(bytes)));
            let error = got.into_body().bytes().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Body, "{coding}: {error}");
        }
        let got = decompress(response("gzip", Body::full("not gzip at all, but text")));
        let error = got.into_body().bytes().await.unwrap_err();
        assert_eq!(error.to_string(), "the body does not decompress");
    });
}

#[test]
fn an_empty_body_stays_empty_and_a_part_stays_as_it_is() {
    run(async {
        let got = decompress(response("gzip", Body::empty()));
        assert!(got.into_body().bytes().await.unwrap().is_empty());
        let got = decompress(response("gzip", pieces(b"", 1, None)));
        assert!(got.into_body().bytes().await.unwrap().is_empty());
        for status in [204, 206, 304] {
            let mut part = response("gzip", Body::full("part"));
            *part.status_mut() = http::StatusCode::from_u16(status).unwrap();
            let got = decompress(part);
            assert_eq!(got.headers()[CONTENT_LENGTH], "7");
            assert_eq!(got.into_body().bytes().await.unwrap(), "part");
        }
    });
}

#[test]
fn trailers_and_the_errors_of_the_body_come_through() {
    run(async {
        let bytes = encoded("gzip", b"hello").await;
        let mut trailers = Map::new();
        trailers.insert("x-sum", HeaderValue::from_static("1"));
        let body = pieces(&bytes, 5, Some(trailers.clone()));
        let mut body = decompress(response("gzip", body)).into_body();
        let mut frames = Vec::new();
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            frames.push(frame.unwrap());
        }
        assert_eq!(frames.pop().unwrap().into_trailers().unwrap(), trailers);
        let (mut sender, body) = Body::channel();
        sender.send(bytes[..12].to_vec()).await.unwrap();
        drop(sender);
        let got = decompress(response("gzip", body));
        let error = got.into_body().bytes().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
    });
}

#[test]
fn a_bomb_is_read_only_as_far_as_its_reader_wants() {
    run(async {
        let bytes = encoded("gzip", &vec![0; 5_000_000]).await;
        let got = decompress(response("gzip", Body::full(bytes)));
        let error = got.into_body().bytes_within(100_000).await.unwrap_err();
        assert!(error.to_string().contains("more than 100000 bytes"));
    });
}

#[test]
fn a_zstd_window_above_eight_mebibytes_is_an_error() {
    run(async {
        // RFC 8878 section 3.1.1: magic number, a descriptor without a single segment, a window of
        // 2^(10+14) bytes, an empty last raw block.
        for (exponent, is_allowed) in [(13_u8, true), (14, false)] {
            let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, exponent << 3, 1, 0, 0];
            let got = decompress(response("zstd", Body::full(frame.to_vec())));
            let outcome = got.into_body().bytes().await;
            assert_eq!(outcome.is_ok(), is_allowed, "{exponent}: {outcome:?}");
        }
    });
}

#[test]
fn a_brotli_window_above_sixteen_mebibytes_is_an_error() {
    run(async {
        // RFC 7932 section 9.1: a window of 2^24 bytes and an empty last block; then the bits that are no window there, with
        // which that of 2^30 bytes begins in the format of large windows.
        for (stream, is_allowed) in [(&b"\x3f"[..], true), (b"\x11\xde", false)] {
            let got = decompress(response("br", Body::full(stream)));
            let outcome = got.into_body().bytes().await;
            assert_eq!(outcome.is_ok(), is_allowed, "{stream:x?}: {outcome:?}");
        }
    });
}

#[test]
fn a_request_that_says_what_it_takes_is_left_alone() {
    assert_eq!(asked(&HeaderMap::new()), Some("gzip, br, zstd, deflate"));
    for name in ["accept-encoding", "range"] {
        let mut fields = HeaderMap::new();
        fields.insert(name, HeaderValue::from_static("bytes=0-1"));
        assert_eq!(asked(&fields), None);
    }
}
