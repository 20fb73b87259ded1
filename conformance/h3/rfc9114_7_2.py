"""RFC 9114 sections 7.2.1 to 7.2.8: which frame may stand where. Elsewhere it is
H3_FRAME_UNEXPECTED; numbers out of order are H3_ID_ERROR, settings out of range
H3_SETTINGS_ERROR."""

import wire

HTTP2 = (0x2, 0x6, 0x8, 0x9)


def _is_unexpected_on_control(server, bytes):
    peer = server()
    peer.says(peer.control, bytes)
    peer.must_close(wire.H3_FRAME_UNEXPECTED)


def _is_unexpected_on_a_request(server, bytes):
    for before in (b"", wire.post()):
        peer = server()
        peer.asks(before + bytes, fin=False)
        peer.must_close(wire.H3_FRAME_UNEXPECTED)


def data_and_headers_are_unexpected_on_the_control_stream(server):
    _is_unexpected_on_control(server, wire.data(b"x"))
    _is_unexpected_on_control(server, wire.get())


def cancel_push_is_unexpected_on_a_request_stream(server):
    _is_unexpected_on_a_request(server, wire.number(wire.CANCEL_PUSH, 0))


def cancel_push_of_what_was_never_promised_is_an_id_error(server):
    peer = server()
    peer.says(peer.control, wire.number(wire.CANCEL_PUSH, 0))
    peer.must_close(wire.H3_ID_ERROR)


def settings_are_unexpected_on_a_request_stream(server):
    _is_unexpected_on_a_request(server, wire.settings())


def settings_come_once(server):
    _is_unexpected_on_control(server, wire.settings())


def a_setting_that_comes_twice_is_an_error(server):
    peer = server(said=None)
    pair = (wire.MAX_FIELD_SECTION_SIZE, 1000)
    peer.opens(wire.CONTROL, wire.settings(pair, pair))
    peer.must_close(wire.H3_SETTINGS_ERROR)


def a_setting_of_http2_is_an_error(server):
    # Section 7.2.4.1.
    for id in (0x2, 0x3, 0x4, 0x5):
        peer = server(said=None)
        peer.opens(wire.CONTROL, wire.settings((id, 1)))
        peer.must_close(wire.H3_SETTINGS_ERROR)


def unknown_settings_are_ignored(server):
    peer = server(said=((wire.GREASE, 7), (0x1234, 1), (wire.GREASE + 0x1F, 0)))
    peer.must_live()


def a_push_promise_is_unexpected_on_both(server):
    promise = wire.frame(wire.PUSH_PROMISE, b"\0" + wire.section(*wire.pseudo()))
    _is_unexpected_on_control(server, promise)
    _is_unexpected_on_a_request(server, promise)


def goaway_is_unexpected_on_a_request_stream(server):
    _is_unexpected_on_a_request(server, wire.number(wire.GOAWAY, 0))


def max_push_id_is_unexpected_on_a_request_stream(server):
    _is_unexpected_on_a_request(server, wire.number(wire.MAX_PUSH_ID, 0))


def max_push_id_that_falls_is_an_id_error(server):
    peer = server()
    peer.says(peer.control, wire.number(wire.MAX_PUSH_ID, 5) + wire.number(wire.MAX_PUSH_ID, 4))
    peer.must_close(wire.H3_ID_ERROR)


def frames_of_http2_are_unexpected_everywhere(server):
    # Section 7.2.8.
    for kind in HTTP2:
        _is_unexpected_on_control(server, wire.frame(kind, b"\0" * 8))
        _is_unexpected_on_a_request(server, wire.frame(kind, b"\0" * 8))


def reserved_frames_are_ignored_whatever_they_carry(server):
    peer = server()
    stream = peer.asks(wire.frame(wire.GREASE, wire.get()) + wire.get())
    peer.must_answer(stream)
