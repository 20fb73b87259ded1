use super::*;
use http_body_util::BodyExt;

fn taken(signals: &Signals) -> Vec<(StreamId, usize)> {
    let mut notes = None;
    signals.begin_turn(&mut notes);
    notes.map(|notes| notes.taken).unwrap_or_default()
}

#[tokio::test]
async fn what_the_reader_takes_is_reported_to_the_connection() {
    let signals = Arc::default();
    let (inlet, mut body) = Body::incoming(&signals, StreamId(1), Some(5));
    assert!(inlet.push(Bytes::from_static(b"hello"), true));
    assert_eq!(taken(&signals), [], "nothing before it is read");
    assert_eq!(http_body::Body::size_hint(&body).exact(), Some(5));
    let data = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(data, "hello");
    assert_eq!(taken(&signals), [(StreamId(1), 5)]);
    assert!(http_body::Body::is_end_stream(&body));
}

#[tokio::test]
async fn a_dropped_body_gives_back_what_it_held_and_refuses_more() {
    let signals = Arc::default();
    let (inlet, body) = Body::incoming(&signals, StreamId(1), None);
    assert!(inlet.push(Bytes::from_static(b"hello"), false));
    drop(body);
    assert_eq!(taken(&signals), [(StreamId(1), 5)]);
    assert!(!inlet.push(Bytes::from_static(b"more"), false));
}

#[tokio::test]
async fn an_inlet_dropped_before_the_end_is_an_error_behind_the_bytes() {
    let signals = Arc::default();
    let (inlet, mut body) = Body::incoming(&signals, StreamId(1), None);
    assert!(inlet.push(Bytes::from_static(b"part"), false));
    drop(inlet);
    assert!(body.frame().await.unwrap().is_ok());
    let error = body.frame().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

#[tokio::test]
async fn a_sender_dropped_before_finish_is_an_error_too() {
    let (mut sender, body) = Body::channel();
    sender.send("part").await.unwrap();
    drop(sender);
    assert!(body.collect().await.is_err());
}

#[tokio::test]
async fn a_finished_body_has_its_bytes_and_trailers() {
    let (mut sender, body) = Body::channel();
    sender.send("one").await.unwrap();
    sender.send("two").await.unwrap();
    let mut trailers = HeaderMap::new();
    trailers.insert("x", http::HeaderValue::from_static("y"));
    sender.finish_with(trailers);
    let collected = body.collect().await.unwrap();
    assert_eq!(collected.trailers().unwrap()["x"], "y");
    assert_eq!(collected.to_bytes(), "onetwo");
}

#[tokio::test]
async fn a_sender_far_ahead_waits_for_the_reader() {
    let (mut sender, mut body) = Body::channel();
    sender.send(vec![0; CHANNEL_BYTES_MAX]).await.unwrap();
    let mut second = Box::pin(sender.send("more"));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(second.as_mut().poll(&mut cx).is_pending());
    body.frame().await.unwrap().unwrap();
    assert!(second.as_mut().poll(&mut cx).is_ready());
}

#[test]
fn an_empty_body_is_at_its_end_and_a_whole_one_knows_its_size() {
    assert!(http_body::Body::is_end_stream(&Body::empty()));
    assert!(http_body::Body::is_end_stream(&Body::full("")));
    assert_eq!(
        http_body::Body::size_hint(&Body::full("abc")).exact(),
        Some(3)
    );
}

#[tokio::test]
async fn a_body_whose_first_piece_was_awaited_still_gives_all_of_it() {
    let (mut sender, mut body) = Body::channel();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(body.poll_begin(&mut cx).is_pending());
    sender.send("one").await.unwrap();
    sender.send("two").await.unwrap();
    assert!(body.poll_begin(&mut cx).is_ready());
    assert!(body.poll_begin(&mut cx).is_ready());
    assert!(!http_body::Body::is_end_stream(&body));
    sender.finish();
    assert_eq!(body.collect().await.unwrap().to_bytes(), "onetwo");
}

#[tokio::test]
async fn a_body_that_ends_before_its_first_piece_is_empty() {
    let (sender, mut body) = Body::channel();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(body.poll_begin(&mut cx).is_pending());
    sender.finish();
    assert!(body.poll_begin(&mut cx).is_ready());
    assert!(http_body::Body::is_end_stream(&body));
}

#[tokio::test]
async fn a_body_that_fails_before_its_first_piece_gives_the_failure_once() {
    let (sender, mut body) = Body::channel();
    drop(sender);
    assert!(
        body.poll_begin(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    );
    assert!(!http_body::Body::is_end_stream(&body));
    assert!(body.collect().await.is_err());
}

/// Two pieces and a length that a program says.
#[cfg(feature = "client")]
struct Sized(Vec<&'static str>, u64);

#[cfg(feature = "client")]
impl http_body::Body for Sized {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let piece = self.0.pop().map(Bytes::from);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }
    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }
    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.1)
    }
}

#[cfg(feature = "client")]
#[tokio::test]
async fn a_body_of_another_crate_is_whole_where_one_frame_has_the_length_that_it_says() {
    for (pieces, length, whole) in [
        (vec!["one"], 3, Some("one")),
        (vec!["two", "one"], 6, None),
        // A wrong length stays, and fails where it is sent.
        (vec!["one"], 4, None),
        (vec!["one"], 2, None),
    ] {
        let all: String = pieces.iter().rev().copied().collect();
        let mut body = Body::wrap(Sized(pieces, length));
        body.settle();
        assert_eq!(body.whole(), whole.map(Bytes::from), "{all}, {length}");
        assert_eq!(http_body::Body::size_hint(&body).exact(), Some(length));
        assert_eq!(body.collect().await.unwrap().to_bytes(), all);
    }
}

#[cfg(feature = "client")]
#[test]
fn a_body_is_not_polled_outside_of_a_runtime_before_it_is_sent() {
    let mut body = Body::wrap(Sized(vec!["one"], 3));
    body.settle();
    assert_eq!(body.whole(), None);
}

#[cfg(feature = "websocket")]
#[tokio::test]
async fn bytes_that_a_connection_has_not_taken_are_not_flushed_when_it_is_gone() {
    let (mut sender, mut body) = Body::channel();
    sender.send("taken").await.unwrap();
    assert!(body.frame().await.unwrap().is_ok());
    let mut cx = Context::from_waker(Waker::noop());
    assert!(matches!(sender.poll_taken(&mut cx), Poll::Ready(Ok(()))));
    sender.send("lost").await.unwrap();
    assert!(sender.poll_taken(&mut cx).is_pending());
    drop(body);
    assert!(matches!(sender.poll_taken(&mut cx), Poll::Ready(Err(_))));
}
