"""RFC 9114 section 5.2: GOAWAY of a client names a push, falls and never rises, and forbids no
request."""

import wire


def a_client_that_goes_away_is_still_answered(server):
    peer = server()
    stream = peer.asks(wire.post(), fin=False)
    peer.says(peer.control, wire.number(wire.GOAWAY, 0))
    peer.says(stream, wire.data(b"last"), fin=True)
    peer.must_answer(stream, body=b"last")


def a_goaway_may_fall(server):
    peer = server()
    peer.says(peer.control, wire.number(wire.GOAWAY, 8) + wire.number(wire.GOAWAY, 4))
    peer.must_live()


def a_goaway_that_rises_is_an_id_error(server):
    peer = server()
    peer.says(peer.control, wire.number(wire.GOAWAY, 4) + wire.number(wire.GOAWAY, 8))
    peer.must_close(wire.H3_ID_ERROR)
