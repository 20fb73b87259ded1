use super::*;

fn attempted(connection: u64) -> Attempted {
    Attempted {
        connection,
        ended: ErrorKind::Refused,
        bytes_read: 61,
        bytes_written: 158,
        version: Some(Version::Http2),
        waited_for: Some(WaitReason::Attempt),
        started_after: Some(Duration::from_millis(31)),
        ended_after: Duration::from_millis(40),
        progress: Progress::AwaitingResponse,
        moved_after: Duration::from_millis(34),
        held_by: None,
    }
}

#[test]
fn a_timeline_has_the_waits_the_connections_and_the_end_in_the_order_of_time() {
    let second = Attempted {
        connection: 2,
        ended: ErrorKind::Timeout,
        bytes_read: 0,
        bytes_written: 0,
        waited_for: Some(WaitReason::Pause),
        started_after: Some(Duration::from_millis(90)),
        ended_after: Duration::from_millis(5090),
        moved_after: Duration::from_millis(90),
        held_by: Some(StreamWait::Response),
        ..attempted(2)
    };
    let error = Error::new(ErrorKind::Timeout, Fault::Peer, Retry::OnlyIfIdempotent)
        .with_text("no response came within the headers timeout")
        .with_attempts(vec![attempted(1), second])
        .with_history(History {
            target: "GET https://example.org:443".to_owned(),
            took: Duration::from_millis(5091),
        });
    let expected = "\
GET https://example.org:443 failed after 5.091 s: no response came within the headers timeout
   0.000 s  waits: a connection is being opened
   0.031 s  starts on connection 1, HTTP/2
   0.034 s  last moved: the request was sent, and no response had come
   0.040 s  ends there: refused: no room to wait; the connection had read 61 bytes and written 158
   0.040 s  waits: the peer refused it and it pauses before it is sent again
   0.090 s  starts on connection 2, HTTP/2
   0.090 s  last moved: the request was sent, and no response had come
   5.090 s  still waits: the server has not sent its response or the rest of it
   5.090 s  ends there: a deadline passed
It may be sent again if sending it twice does no harm. At fault: the peer.
";
    assert_eq!(error.timeline(), expected);
}

#[test]
fn a_timeline_of_a_request_that_was_on_no_connection_names_its_causes_and_its_wait() {
    let error = Error::new(ErrorKind::Timeout, Fault::Us, Retry::Safe)
        .with_text("waited too long in line")
        .with_source(std::io::Error::other("below"))
        .with_wait_reason(WaitReason::Capacity)
        .with_history(History {
            target: "GET http://a:80".to_owned(),
            took: Duration::from_millis(7),
        });
    let expected = format!(
        "GET http://a:80 failed after 0.007 s: waited too long in line\n   because: below\n   \
         0.000 s  waits: {}\n   0.007 s  ends: it was on no connection\nIt may be sent again: no peer \
         has processed it. At fault: this program or its client.\n",
        WaitReason::Capacity.text()
    );
    assert_eq!(error.timeline(), expected);
    let bare = Error::config("the port is 0");
    let expected =
        "It failed: the port is 0\nSent again it would fail again. At fault: a setting.\n";
    assert_eq!(bare.timeline(), expected);
}
