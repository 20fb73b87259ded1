"""RFC 9114 section 4.1: a request is HEADERS, DATA, and HEADERS for trailers, in this order, on a
stream of its own. Anything else is H3_FRAME_UNEXPECTED; a stream without a whole request is
H3_REQUEST_INCOMPLETE."""

import wire

TRAILERS = wire.headers(("x-sent", "1"))


def a_request_with_body_and_trailers_is_answered(server):
    peer = server()
    stream = peer.asks(wire.post() + wire.data(b"ab") + wire.data(b"c") + TRAILERS)
    peer.must_answer(stream, body=b"abc")


def data_before_headers_is_unexpected(server):
    peer = server()
    peer.asks(wire.data(b"x"))
    peer.must_close(wire.H3_FRAME_UNEXPECTED)


def headers_behind_trailers_are_unexpected(server):
    peer = server()
    peer.asks(wire.post() + TRAILERS + TRAILERS)
    peer.must_close(wire.H3_FRAME_UNEXPECTED)


def data_behind_trailers_is_unexpected(server):
    peer = server()
    peer.asks(wire.post() + TRAILERS + wire.data(b"x"))
    peer.must_close(wire.H3_FRAME_UNEXPECTED)


def unknown_frames_may_stand_anywhere(server):
    peer = server()
    grease = wire.frame(wire.GREASE, b"nothing")
    parts = [wire.post(), wire.data(b"a"), wire.data(b"b"), TRAILERS, b""]
    peer.must_answer(peer.asks(grease + grease.join(parts)), body=b"ab")


def an_empty_stream_is_an_incomplete_request(server):
    peer = server()
    peer.must_reset(peer.asks(b""), wire.H3_REQUEST_INCOMPLETE)


def a_stream_of_unknown_frames_is_an_incomplete_request(server):
    peer = server()
    peer.must_reset(peer.asks(wire.frame(wire.GREASE, b"x")), wire.H3_REQUEST_INCOMPLETE)


def an_answer_may_come_before_the_request_is_complete_and_survives(server):
    peer = server()
    stream = peer.asks(wire.post("/early") + wire.data(b"x"), fin=False)
    peer.must_answer(stream)
    # Only with H3_NO_ERROR may the server ask for the rest to be dropped.
    assert peer.record(stream).stopped in (None, wire.H3_NO_ERROR), peer.record(stream)
    peer.must_live()


def a_chunked_body_is_malformed(server):
    peer = server()
    peer.must_refuse(peer.asks(wire.post("/echo", ("transfer-encoding", "chunked"))))


def a_request_is_served_though_its_bytes_come_one_by_one(server):
    peer = server()
    whole = wire.post() + wire.data(b"abc")
    stream = peer.asks(whole[:1], fin=False)
    for at in range(1, len(whole)):
        peer.says(stream, whole[at : at + 1], fin=at + 1 == len(whole))
    peer.must_answer(stream, body=b"abc")
