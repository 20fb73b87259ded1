"""RFC 9114 section 4.4: CONNECT names an authority and nothing else, and its stream carries DATA
alone once it is accepted."""

import wire


def connect_with_a_scheme_or_a_path_is_malformed(server):
    for more in ({"scheme": "https", "path": None}, {"scheme": None, "path": "/"}):
        peer = server()
        peer.must_refuse(peer.asks(wire.headers(*wire.pseudo(method="CONNECT", **more))))


def connect_without_an_authority_is_malformed(server):
    peer = server()
    fields = wire.pseudo(method="CONNECT", scheme=None, path=None, authority=None)
    peer.must_refuse(peer.asks(wire.headers(*fields)))


def connect_without_a_port_is_malformed(server):
    # RFC 9110 section 9.3.6.
    for authority in ("localhost", "localhost:", "localhost:x", "localhost:65536"):
        peer = server()
        fields = wire.pseudo(method="CONNECT", scheme=None, path=None, authority=authority)
        peer.must_refuse(peer.asks(wire.headers(*fields)))


def connect_is_answered_by_the_handler(server):
    peer = server()
    fields = wire.pseudo(method="CONNECT", scheme=None, path=None, authority="localhost:1")
    stream = peer.asks(wire.headers(*fields), fin=False)
    record = peer.record(stream)
    peer.until(lambda: wire.frames(record.data) or record.reset is not None, "an answer")
    peer.must_live()


def another_frame_than_data_on_a_connect_stream_is_unexpected(server):
    peer = server()
    fields = wire.pseudo(method="CONNECT", scheme=None, path=None, authority="localhost:1")
    stream = peer.asks(wire.headers(*fields), fin=False)
    peer.says(stream, wire.headers(("x", "y")))
    peer.must_close(wire.H3_FRAME_UNEXPECTED)
