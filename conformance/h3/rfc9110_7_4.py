"""RFC 9110 section 7.4: a request has the scheme of its connection, which over QUIC is https."""

import wire


def another_scheme_than_https_is_misdirected(server):
    for scheme in ("http", "ftp"):
        peer = server()
        stream = peer.asks(wire.headers(*wire.pseudo(scheme=scheme)))
        peer.must_answer(stream, 421)
        peer.must_live()
