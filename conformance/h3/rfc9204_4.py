"""RFC 9204 section 4: the streams of QPACK are one each and never end (4.2), the decoder stream
acknowledges only what was sent (4.4), and a section is what it says (4.1, 4.5)."""

import wire
from wire import integer, literal, text


def _does_not_decode(server, section):
    peer = server()
    peer.asks(wire.frame(wire.HEADERS, section))
    peer.must_close(wire.QPACK_DECOMPRESSION_FAILED)


GOOD = wire.section(*wire.pseudo())


def a_second_encoder_or_decoder_stream_is_an_error(server):
    for kind in (wire.ENCODER, wire.DECODER):
        peer = server()
        peer.opens(kind)
        peer.must_live()
        peer.opens(kind)
        peer.must_close(wire.H3_STREAM_CREATION_ERROR)


def an_encoder_or_decoder_stream_that_ends_is_an_error(server):
    for kind in (wire.ENCODER, wire.DECODER):
        peer = server()
        peer.opens(kind, fin=True)
        peer.must_close(wire.H3_CLOSED_CRITICAL_STREAM)
        peer = server()
        stream = peer.opens(kind)
        # A reset that overtakes the type would say nothing.
        peer.must_live()
        peer.resets(stream, wire.H3_NO_ERROR)
        peer.must_close(wire.H3_CLOSED_CRITICAL_STREAM)


def an_acknowledgement_of_a_section_that_was_not_sent_is_an_error(server):
    # Section 4.4.1.
    peer = server()
    peer.opens(wire.DECODER, integer(0, 7, 0x80))
    peer.must_close(wire.QPACK_DECODER_STREAM_ERROR)


def a_cancellation_of_any_stream_is_fine(server):
    # Section 4.4.2.
    peer = server()
    peer.opens(wire.DECODER, integer(0, 6, 0x40) + integer(400, 6, 0x40))
    peer.must_live()


def an_increment_of_0_is_an_error(server):
    # Section 4.4.3.
    peer = server()
    peer.opens(wire.DECODER, integer(0, 6, 0x00))
    peer.must_close(wire.QPACK_DECODER_STREAM_ERROR)


def an_increment_beyond_what_was_inserted_is_an_error(server):
    peer = server()
    peer.opens(wire.DECODER, integer(1000, 6, 0x00))
    peer.must_close(wire.QPACK_DECODER_STREAM_ERROR)


def an_integer_that_never_ends_is_an_error(server):
    # Section 4.1.1: 62 bits at the most.
    endless = b"\xff" * 12
    _does_not_decode(server, GOOD + b"\x3f" + endless)
    for kind, first, code in (
        (wire.ENCODER, b"\x3f", wire.QPACK_ENCODER_STREAM_ERROR),
        (wire.DECODER, b"\x3f", wire.QPACK_DECODER_STREAM_ERROR),
    ):
        peer = server()
        peer.opens(kind, first + endless)
        peer.must_close(code)


def a_required_insert_count_that_no_encoder_says_is_an_error(server):
    # Section 4.5.1.1: 4096 bytes hold 128 entries, so at most 256 is said.
    _does_not_decode(server, integer(257, 8, 0) + b"\0" + GOOD[2:])
    _does_not_decode(server, integer(200, 8, 0) + b"\0" + GOOD[2:])


def a_base_below_0_is_an_error(server):
    # Section 4.5.1.2.
    peer = server()
    peer.opens(wire.ENCODER, integer(4096, 5, 0x20) + text("x", 5, 0x40) + text("1"))
    peer.asks(wire.frame(wire.HEADERS, b"\x02\x81" + GOOD[2:]))
    peer.must_close(wire.QPACK_DECOMPRESSION_FAILED)


def a_section_that_ends_in_a_field_line_is_an_error(server):
    for cut in (1, 3, len(GOOD) - 1):
        _does_not_decode(server, GOOD[:cut])
    _does_not_decode(server, b"")


def huffman_padding_that_is_too_long_or_not_of_ones_is_an_error(server):
    # Section 4.1.2, RFC 7541 section 5.2.
    for code in (b"\xff", b"\xff\xff\xff\xff", b"\x00"):
        line = text("x-a", 3, 0x20) + integer(len(code), 7, 0x80) + code
        _does_not_decode(server, GOOD + line)


def every_line_of_the_static_table_and_of_literals_is_understood(server):
    # Sections 4.5.2, 4.5.4 and 4.5.6.
    peer = server()
    lines = [
        integer(17, 6, 0xC0),
        integer(23, 6, 0xC0),
        integer(0, 4, 0x50) + text("localhost"),
        integer(1, 4, 0x70) + text("/cookie"),
        text("cookie", 3, 0x30) + text("a=1"),
        literal("x-b", ""),
    ]
    stream = peer.asks(wire.frame(wire.HEADERS, wire.PREFIX + b"".join(lines)))
    peer.must_answer(stream, body=b"a=1")
