"""RFC 9114 sections 6.2, 6.2.1 and 6.2.3: unidirectional streams say what they are. The control
stream is one, begins with SETTINGS and never ends; what nobody knows is not an error."""

import wire


def a_stream_of_unknown_type_is_no_error(server):
    peer = server()
    peer.opens(wire.GREASE, b"nothing of note", fin=True)
    stream = peer.opens(wire.GREASE + 0x1F, b"nothing of note")
    peer.must_live()
    # RFC 9114 section 6.2: it may be stopped, with this code.
    assert peer.record(stream).stopped in (None, wire.H3_STREAM_CREATION_ERROR)


def a_stream_may_end_before_it_says_its_type(server):
    peer = server()
    peer.opens_raw(b"", fin=True)
    stream = peer.opens_raw(b"\x40")
    peer.resets(stream, wire.H3_NO_ERROR)
    peer.must_live()


def a_type_may_be_written_in_any_length(server):
    peer = server(said=None)
    peer.opens_raw(b"\xc0\0\0\0\0\0\0\0" + wire.settings())
    peer.must_live()


def the_server_opens_its_control_stream_with_settings_at_once(server):
    # Sections 3.2 and 6.2.1: before anything is asked, and before the client's settings.
    peer = server(said=None)
    peer.until(lambda: peer.unis(wire.CONTROL), "the server's control stream")
    kind, payload = wire.frames(peer.unis(wire.CONTROL)[1])[0]
    assert kind == wire.SETTINGS, kind
    ids = []
    while payload:
        id, payload = wire.take_varint(payload)
        _, payload = wire.take_varint(payload)
        ids.append(id)
    assert len(ids) == len(set(ids)), "a setting comes twice"
    assert not set(ids) & {0, 2, 3, 4, 5}, "a setting of HTTP/2"


def a_second_control_stream_is_an_error(server):
    peer = server()
    peer.opens(wire.CONTROL, wire.settings())
    peer.must_close(wire.H3_STREAM_CREATION_ERROR)


def a_control_stream_that_ends_is_an_error(server):
    peer = server()
    peer.says(peer.control, b"", fin=True)
    peer.must_close(wire.H3_CLOSED_CRITICAL_STREAM)


def a_control_stream_that_is_reset_is_an_error(server):
    peer = server()
    # A reset that overtakes the type would say nothing.
    peer.must_live()
    peer.resets(peer.control, wire.H3_NO_ERROR)
    peer.must_close(wire.H3_CLOSED_CRITICAL_STREAM)


def a_client_that_stops_the_servers_control_stream_breaks_a_rule(server):
    peer = server()
    peer.until(lambda: peer.unis(wire.CONTROL), "the server's control stream")
    peer.stops(peer.unis(wire.CONTROL)[0], wire.H3_NO_ERROR)
    peer.must_close(wire.H3_CLOSED_CRITICAL_STREAM)


def a_control_stream_that_does_not_begin_with_settings_is_an_error(server):
    for first in (
        wire.number(wire.GOAWAY, 0),
        wire.number(wire.MAX_PUSH_ID, 1),
        wire.frame(wire.GREASE, b"x"),
        wire.data(b"x"),
    ):
        peer = server(said=None)
        peer.opens(wire.CONTROL, first + wire.settings())
        peer.must_close(wire.H3_MISSING_SETTINGS)


def reserved_frames_on_the_control_stream_are_ignored(server):
    peer = server()
    peer.says(peer.control, wire.frame(wire.GREASE, b"x" * 100) + wire.frame(wire.GREASE + 0x1F))
    peer.must_live()
