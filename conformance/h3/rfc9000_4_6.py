"""RFC 9000 section 4.6: streams beyond the credit are STREAM_LIMIT_ERROR; credit comes back as
requests end, so that a connection outlives its first limit."""

import wire


def a_client_that_opens_more_than_its_credit_is_closed(server):
    peer = server()
    limit = peer.quic._remote_max_streams_bidi
    peer.quic._remote_max_streams_bidi = limit + 1
    peer.says(limit * 4, wire.get(), fin=True)
    peer.must_close(wire.STREAM_LIMIT_ERROR, transport=True)


def a_client_that_opens_more_unidirectional_streams_than_allowed_is_closed(server):
    peer = server()
    limit = peer.quic._remote_max_streams_uni
    peer.quic._remote_max_streams_uni = limit + 1
    peer.says(limit * 4 + 2, wire.varint(wire.GREASE))
    peer.must_close(wire.STREAM_LIMIT_ERROR, transport=True)


def requests_one_after_another_outlast_the_limit(server):
    peer = server()
    limit = peer.quic._remote_max_streams_bidi
    for _ in range(limit + 50):
        peer.must_live()
    assert peer.quic._remote_max_streams_bidi > limit


def resets_in_the_middle_give_their_credit_back(server):
    peer = server()
    limit = peer.quic._remote_max_streams_bidi
    for number in range(limit + 50):
        if number % 4 == 0:
            peer.resets(peer.asks(wire.post("/never"), fin=False))
        else:
            peer.must_live()
    assert peer.quic._remote_max_streams_bidi > limit
