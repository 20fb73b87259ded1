"""RFC 9114 section 4.2: names are lower-case tokens, values have no control characters, and fields
of one connection (section 4.2 names them) do not exist. Sections 4.2.1 and 4.2.2: cookies and
sizes."""

import wire


def _is_malformed(server, name, value):
    peer = server()
    peer.must_refuse(peer.asks(wire.get("/", (name, value))))


def an_upper_case_name_is_malformed(server):
    _is_malformed(server, "Upper", "1")


def a_name_that_is_no_token_is_malformed(server):
    for name in ("a b", "a:b", "a\0", "", "ä"):
        _is_malformed(server, name, "1")


def control_characters_in_a_value_are_malformed(server):
    for value in ("a\0b", "a\rb", "a\nb", "a\r\nb: c"):
        _is_malformed(server, "x-a", value)


def space_around_a_value_is_malformed_or_harmless(server):
    # Section 4.2 leaves it to RFC 9110 section 5.5: stripped or refused, never an error of more.
    peer = server()
    stream = peer.asks(wire.get("/", ("x-a", " b ")))
    peer.until(lambda: peer.record(stream).fin or peer.record(stream).reset is not None, "an end")
    peer.must_live()


def connection_fields_are_malformed(server):
    for name, value in (
        ("connection", "close"),
        ("connection", "x-a"),
        ("keep-alive", "timeout=5"),
        ("proxy-connection", "keep-alive"),
        ("transfer-encoding", "chunked"),
        ("upgrade", "websocket"),
    ):
        _is_malformed(server, name, value)


def te_may_say_trailers_and_nothing_else(server):
    peer = server()
    peer.must_answer(peer.asks(wire.get("/", ("te", "trailers"))))
    for value in ("gzip", "trailers, gzip", ""):
        _is_malformed(server, "te", value)


def cookies_in_pieces_are_one_for_the_handler(server):
    # Section 4.2.1.
    peer = server()
    stream = peer.asks(wire.get("/cookie", ("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")))
    peer.must_answer(stream, body=b"a=1; b=2")


def an_enormous_section_is_refused_and_the_connection_goes_on(server):
    # Section 4.2.2.
    peer = server()
    stream = peer.asks(wire.get("/", *((f"x-{n}", "v" * 1000) for n in range(100))))
    peer.must_answer(stream, status=431)
    peer.must_live()


def more_fields_than_are_taken_are_refused_and_the_connection_goes_on(server):
    peer = server()
    stream = peer.asks(wire.get("/", *((f"x-{n}", "") for n in range(600))))
    peer.must_answer(stream, status=431)
    peer.must_live()


def no_answer_is_larger_than_the_client_takes(server):
    # Section 4.2.2: a stream is reset rather than that more is sent.
    peer = server(said=((wire.MAX_FIELD_SECTION_SIZE, 40),))
    peer.until(lambda: peer.unis(wire.CONTROL), "the server's control stream")
    stream = peer.asks(wire.get("/cookie", ("cookie", "a=1")))
    record = peer.record(stream)
    peer.until(lambda: record.fin or record.reset is not None, "an end")
    if record.reset is None:
        fields = peer.answer(stream)[1]
        assert sum(len(name) + len(value) + 32 for name, value in fields) <= 40, fields
