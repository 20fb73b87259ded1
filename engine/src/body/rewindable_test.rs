use super::*;
use http_body_util::{BodyExt as _, StreamBody};
use std::convert::Infallible;
use std::future::poll_fn;

fn streamed(pieces: Vec<Bytes>) -> Body {
    let frames = pieces
        .into_iter()
        .map(|piece| Ok::<_, Infallible>(Frame::data(piece)));
    Body::wrap(StreamBody::new(futures_util::stream::iter(frames))).keeping()
}

fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut cx = Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut cx) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it is all there"),
    }
}

fn next(body: &mut Body) -> Option<Bytes> {
    let frame = now(poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)))?;
    Some(frame.unwrap().into_data().unwrap())
}

fn rest(body: Body) -> Bytes {
    now(body.collect()).unwrap().to_bytes()
}

#[test]
fn a_body_is_read_again_from_its_begin_wherever_its_reader_was() {
    for read in 0..=3 {
        let mut body = streamed(vec![Bytes::from("ab"), Bytes::from("cd")]);
        for _ in 0..read {
            next(&mut body);
        }
        assert!(body.can_rewind());
        body.rewind();
        assert!(!body.is_end_stream());
        assert_eq!(rest(body), "abcd", "{read} frames were read before");
    }
}

#[test]
fn a_body_that_has_given_more_than_is_kept_goes_on_and_is_not_read_again() {
    let large = Bytes::from(vec![b'x'; KEPT_BYTES_MAX]);
    let mut body = streamed(vec![large, Bytes::from("y"), Bytes::from("z")]);
    next(&mut body);
    assert!(body.can_rewind());
    assert_eq!(next(&mut body).unwrap(), "y");
    assert!(!body.can_rewind());
    assert_eq!(rest(body), "z");
}

#[test]
fn a_body_that_forgets_gives_every_byte_once() {
    let mut body = streamed(vec![Bytes::from("ab"), Bytes::from("cd")]);
    next(&mut body);
    body.rewind();
    body.forget();
    assert!(!body.can_rewind());
    assert_eq!(rest(body), "abcd");
}

#[test]
fn bodies_that_are_whole_stay_what_they_are() {
    for body in [Body::empty(), Body::full("x")] {
        let bytes = body.repeatable();
        assert_eq!(body.keeping().repeatable(), bytes);
    }
}
