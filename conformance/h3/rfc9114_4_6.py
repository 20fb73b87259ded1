"""RFC 9114 section 4.6: pushes. We send none, and what a client may say of them is still held to
the rules (section 7.2.7)."""

import wire


def a_client_that_offers_pushes_gets_none(server):
    peer = server()
    peer.says(peer.control, wire.number(wire.MAX_PUSH_ID, 10))
    peer.must_live()
    assert peer.unis(wire.PUSH) is None


def a_push_promise_of_a_client_is_unexpected(server):
    peer = server()
    peer.asks(wire.frame(wire.PUSH_PROMISE, b"\0" + wire.section(*wire.pseudo())), fin=False)
    peer.must_close(wire.H3_FRAME_UNEXPECTED)


def a_push_stream_of_a_client_is_an_error(server):
    # Section 6.2.2.
    peer = server()
    peer.opens(wire.PUSH, wire.varint(0))
    peer.must_close(wire.H3_STREAM_CREATION_ERROR)
