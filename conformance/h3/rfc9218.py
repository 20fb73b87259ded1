"""RFC 9218 section 7.2: PRIORITY_UPDATE stands on the control stream and names a request stream
that is open or may be opened; what it says is never an error of the connection."""

import wire


def _update(stream, value):
    return wire.frame(wire.PRIORITY_UPDATE, wire.varint(stream) + value)


def a_priority_update_may_come_before_its_request(server):
    peer = server()
    peer.says(peer.control, _update(0, b"u=1, i"))
    peer.must_live()


def a_priority_that_does_not_parse_is_ignored(server):
    peer = server()
    peer.says(peer.control, _update(0, b"u=99;;;"))
    peer.must_live()
    peer.must_answer(peer.asks(wire.get("/", ("priority", "u=, i=?"))))


def a_priority_update_on_a_request_stream_is_unexpected(server):
    peer = server()
    peer.asks(_update(0, b"u=1"), fin=False)
    peer.must_close(wire.H3_FRAME_UNEXPECTED)


def a_priority_update_of_no_request_stream_is_an_id_error(server):
    for stream in (1, 2, 3, 4 << 30):
        peer = server()
        peer.says(peer.control, _update(stream, b"u=1"))
        peer.must_close(wire.H3_ID_ERROR)


def a_priority_update_of_a_push_that_was_never_promised_is_an_id_error(server):
    peer = server()
    peer.says(peer.control, wire.frame(wire.PRIORITY_UPDATE + 1, wire.varint(0) + b"u=1"))
    peer.must_close(wire.H3_ID_ERROR)
