"""RFC 9204 section 3: tables. The static one ends at 98; the dynamic one is as large as the decoder
allows, and holds no entry that is larger (sections 3.1, 3.2.2 to 3.2.5)."""

import wire
from wire import integer, text

CAPACITY = integer(4096, 5, 0x20)


def _is_encoder_error(server, bytes):
    peer = server()
    peer.opens(wire.ENCODER, bytes)
    peer.must_close(wire.QPACK_ENCODER_STREAM_ERROR)


def a_static_entry_that_is_none_ends_the_connection(server):
    for line in (integer(99, 6, 0xC0), integer(99, 4, 0x50) + text("v")):
        peer = server()
        peer.asks(wire.frame(wire.HEADERS, wire.section(*wire.pseudo()) + line))
        peer.must_close(wire.QPACK_DECOMPRESSION_FAILED)


def a_static_entry_that_is_none_is_an_error_on_the_encoder_stream(server):
    _is_encoder_error(server, CAPACITY + integer(99, 6, 0xC0) + text("v"))


def an_entry_larger_than_the_table_is_an_error(server):
    _is_encoder_error(server, integer(40, 5, 0x20) + text("x-a", 5, 0x40) + text("v" * 10))
    # Before any capacity is set, the table is empty.
    _is_encoder_error(server, text("x-a", 5, 0x40) + text("1"))


def a_capacity_above_what_was_allowed_is_an_error(server):
    _is_encoder_error(server, integer(4097, 5, 0x20))
    _is_encoder_error(server, integer(1 << 40, 5, 0x20))


def a_capacity_may_fall_and_rise(server):
    peer = server()
    insert = text("x-a", 5, 0x40) + text("1")
    steps = CAPACITY + insert + integer(0, 5, 0x20) + CAPACITY + insert
    peer.opens(wire.ENCODER, steps)
    lines = wire.section(*wire.pseudo())[2:] + integer(0, 6, 0x80)
    # Two insertions are needed: encoded as 3.
    peer.must_answer(peer.asks(wire.frame(wire.HEADERS, b"\x03\x00" + lines)))


def an_entry_of_an_instruction_that_is_not_there_is_an_error(server):
    # Sections 3.2.5, 4.3.2 and 4.3.4.
    _is_encoder_error(server, CAPACITY + integer(0, 6, 0x80) + text("v"))
    _is_encoder_error(server, CAPACITY + integer(0, 5, 0x00))


def every_instruction_is_understood(server):
    # Sections 4.3.1 to 4.3.4: capacity, static name, dynamic name, literal name, duplicate.
    peer = server()
    instructions = [
        CAPACITY,
        integer(1, 6, 0xC0) + text("/cookie"),
        integer(0, 6, 0x80) + text("/"),
        text("cookie", 5, 0x40) + text("a=1"),
        integer(2, 5, 0x00),
    ]
    encoder = peer.opens(wire.ENCODER)
    for byte in b"".join(instructions):
        peer.says(encoder, bytes([byte]))
    lines = wire.section(*wire.pseudo(path=None))[2:]
    # Base 3 of 4 insertions: relative 0 is the cookie, post-base 0 the duplicate of :path.
    section = b"\x05\x80" + lines + integer(0, 4, 0x10) + integer(0, 6, 0x80)
    peer.must_answer(peer.asks(wire.frame(wire.HEADERS, section)), body=b"a=1")
