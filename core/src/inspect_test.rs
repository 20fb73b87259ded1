use super::*;
use crate::http::StreamId;

fn stream(sends: Option<StreamWait>, receives: Option<StreamWait>) -> StreamSnapshot {
    StreamSnapshot {
        id: StreamId(1),
        method: "GET",
        target: None,
        age: Duration::ZERO,
        received_bytes: 0,
        unread_bytes: 0,
        receive_window: 0,
        receive_credit: 0,
        sent_bytes: 0,
        unsent_bytes: 0,
        send_quota: None,
        sends,
        receives,
    }
}

#[test]
fn bytes_that_cannot_leave_are_the_reason_before_all_others() {
    use StreamWait::*;
    for of_bytes in [StreamWindow, ConnectionWindow, Transport, Turn] {
        for receives in [None, Some(Reader), Some(RequestRest), Some(Response)] {
            assert_eq!(stream(Some(of_bytes), receives).wait(), Some(of_bytes));
        }
    }
}

#[test]
fn a_handler_is_not_blamed_for_a_request_that_is_incomplete_or_unread() {
    use StreamWait::*;
    for (sends, receives, wait) in [
        (Some(Handler), None, Some(Handler)),
        (Some(Handler), Some(RequestRest), Some(RequestRest)),
        (Some(Handler), Some(Reader), Some(Reader)),
        (Some(Source), Some(Response), Some(Source)),
        (None, Some(Response), Some(Response)),
        (None, None, None),
    ] {
        assert_eq!(stream(sends, receives).wait(), wait);
    }
}

#[test]
fn a_window_is_blamed_before_the_transport_and_only_for_bytes_that_wait() {
    let shut = Sends {
        awaits_head: false,
        takes_content: true,
        waits: true,
        is_stream_shut: true,
        is_connection_shut: true,
        is_transport_full: true,
    };
    let open = |stream, connection, transport| Sends {
        is_stream_shut: stream,
        is_connection_shut: connection,
        is_transport_full: transport,
        ..shut
    };
    assert_eq!(shut.wait(), Some(StreamWait::StreamWindow));
    let connection = open(false, true, true).wait();
    assert_eq!(connection, Some(StreamWait::ConnectionWindow));
    let transport = open(false, false, true).wait();
    assert_eq!(transport, Some(StreamWait::Transport));
    assert_eq!(open(false, false, false).wait(), Some(StreamWait::Turn));
    let empty = Sends {
        waits: false,
        ..shut
    };
    assert_eq!(empty.wait(), Some(StreamWait::Source));
}

#[test]
fn every_reason_has_a_name_and_a_text_of_its_own() {
    let names: std::collections::BTreeSet<_> =
        StreamWait::ALL.iter().map(|wait| wait.name()).collect();
    let texts: std::collections::BTreeSet<_> =
        StreamWait::ALL.iter().map(|wait| wait.text()).collect();
    assert_eq!(names.len(), StreamWait::ALL.len());
    assert_eq!(texts.len(), StreamWait::ALL.len());
}
