"""RFC 9114 section 3: connections are for `h3`, and their limits let HTTP/3 work (sections 3.1,
3.2, 6.1 and 6.2)."""

import wire


def another_protocol_is_refused_in_the_handshake(server):
    # RFC 7301 section 3.2: no_application_protocol, as a QUIC error 0x100 + 120.
    server(alpn="h4", wait=False).must_close(0x178, transport=True)


def at_least_a_hundred_request_streams_are_allowed(server):
    assert server().quic._remote_max_streams_bidi >= 100


def at_least_three_unidirectional_streams_are_allowed_with_1024_bytes_each(server):
    peer = server()
    assert peer.quic._remote_max_streams_uni >= 3
    assert peer.quic._remote_max_stream_data_uni >= 1024


def requests_may_come_before_settings(server):
    peer = server(said=None)
    peer.must_answer(peer.asks(wire.get()))


def the_client_may_close_the_connection_at_any_time(server):
    peer = server()
    peer.asks(wire.post(), fin=False)
    peer.hangs_up()
    server().must_live()
