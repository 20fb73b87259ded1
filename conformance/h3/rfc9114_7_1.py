"""RFC 9114 section 7.1: a frame is as long as its fields, and whole: H3_FRAME_ERROR."""

import wire


def _is_frame_error_on_control(server, bytes):
    peer = server()
    peer.says(peer.control, bytes)
    peer.must_close(wire.H3_FRAME_ERROR)


def a_frame_shorter_than_its_fields_is_an_error(server):
    for kind in (wire.GOAWAY, wire.MAX_PUSH_ID, wire.CANCEL_PUSH):
        _is_frame_error_on_control(server, wire.frame(kind))
        _is_frame_error_on_control(server, wire.frame(kind, b"\x40"))


def a_frame_longer_than_its_fields_is_an_error(server):
    for kind in (wire.GOAWAY, wire.MAX_PUSH_ID, wire.CANCEL_PUSH):
        _is_frame_error_on_control(server, wire.frame(kind, b"\0\0"))


def half_a_setting_is_an_error(server):
    peer = server(said=None)
    peer.opens(wire.CONTROL, wire.frame(wire.SETTINGS, wire.varint(wire.GREASE)))
    peer.must_close(wire.H3_FRAME_ERROR)


def a_stream_that_ends_in_a_frame_is_an_error(server):
    request = wire.post() + wire.data(b"body")
    for size in (1, 2, len(wire.post()) - 1, len(wire.post()) + 1, len(request) - 1):
        peer = server()
        peer.asks(request[:size])
        peer.must_close(wire.H3_FRAME_ERROR)


def a_header_in_long_form_means_the_same(server):
    peer = server()
    body = b"\x80\0\0\0" + b"\xc0\0\0\0\0\0\0\x03" + b"abc"
    peer.must_answer(peer.asks(wire.post() + body), body=b"abc")
