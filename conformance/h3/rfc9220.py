"""RFC 9220: extended CONNECT. The setting is 0 or 1; `:protocol` belongs to CONNECT alone, which
then has scheme, path and authority as any request."""

import wire


def _extended(**more):
    return wire.pseudo(method="CONNECT", **more) + ((":protocol", "websocket"),)


def a_setting_other_than_0_and_1_is_an_error(server):
    peer = server(said=None)
    peer.opens(wire.CONTROL, wire.settings((wire.ENABLE_CONNECT_PROTOCOL, 2)))
    peer.must_close(wire.H3_SETTINGS_ERROR)


def the_server_announces_it(server):
    peer = server()
    peer.until(lambda: peer.unis(wire.CONTROL), "the server's control stream")
    payload = wire.frames(peer.unis(wire.CONTROL)[1])[0][1]
    assert wire.varint(wire.ENABLE_CONNECT_PROTOCOL) + b"\1" in payload


def an_extended_connect_reaches_the_handler(server):
    peer = server()
    stream = peer.asks(wire.headers(*_extended(path="/protocol")), fin=False)
    peer.until(lambda: wire.frames(peer.record(stream).data), "an answer")
    peer.says(stream, b"", fin=True)
    peer.must_answer(stream, body=b"websocket")


def protocol_without_connect_is_malformed(server):
    peer = server()
    peer.must_refuse(peer.asks(wire.headers(*wire.pseudo(), (":protocol", "websocket"))))


def an_extended_connect_without_scheme_path_or_authority_is_malformed(server):
    for name in ("scheme", "path", "authority"):
        peer = server()
        peer.must_refuse(peer.asks(wire.headers(*_extended(**{name: None}))))
