"""RFC 9204 section 2: a section may name insertions that are still on their way, on no more streams
than the decoder bears (2.1.2, 2.2.1); what is named must be there (2.2.3); and the decoder says
what it has used and given up (2.2.2)."""

import wire
from wire import integer, literal, text

# Our encoder stream: capacity 4096, then x-a: 1 as entry 0.
CAPACITY = integer(4096, 5, 0x20)
INSERT = text("x-a", 5, 0x40) + text("1")
# A section that needs one insertion, its Base there, and names entry 0.
NEEDS_ONE = b"\x02\x00"


def _asks(lines, required=NEEDS_ONE, fields=wire.pseudo()):
    section = required + b"".join(literal(name, value) for name, value in fields) + lines
    return wire.frame(wire.HEADERS, section)


FIRST = integer(0, 6, 0x80)


def a_section_may_come_before_the_insertions_that_it_needs(server):
    peer = server()
    streams = [peer.asks(_asks(FIRST)) for _ in range(3)]
    peer.must_live()
    for stream in streams:
        peer.must_stay_silent(stream)
    peer.opens(wire.ENCODER, CAPACITY + INSERT)
    for stream in streams:
        peer.must_answer(stream)


def what_comes_behind_a_blocked_section_is_not_lost(server):
    peer = server()
    request = _asks(FIRST, fields=wire.pseudo(method="POST", path="/echo"))
    stream = peer.asks(request, fin=False)
    peer.says(stream, wire.data(b"abc"), fin=True)
    peer.opens(wire.ENCODER, CAPACITY + INSERT)
    peer.must_answer(stream, body=b"abc")


def one_blocked_stream_more_than_allowed_ends_the_connection(server):
    peer = server()
    peer.until(lambda: peer.unis(wire.CONTROL), "the server's settings")
    payload = wire.frames(peer.unis(wire.CONTROL)[1])[0][1]
    allowed = {}
    while payload:
        id, payload = wire.take_varint(payload)
        allowed[id], payload = wire.take_varint(payload)
    for _ in range(allowed[wire.QPACK_BLOCKED_STREAMS]):
        peer.asks(_asks(FIRST))
    peer.must_live()
    peer.asks(_asks(FIRST))
    peer.must_close(wire.QPACK_DECOMPRESSION_FAILED)


def a_blocked_request_that_is_reset_gives_its_place_back(server):
    peer = server()
    for _ in range(60):
        stream = peer.asks(_asks(FIRST), fin=False)
        peer.must_live()
        peer.resets(stream)
        peer.must_reset(stream, wire.H3_REQUEST_CANCELLED, wire.H3_REQUEST_REJECTED)


def an_entry_that_is_not_there_ends_the_connection(server):
    for lines in (integer(1, 6, 0x80), integer(0, 4, 0x10), integer(5, 4, 0x40) + text("v")):
        peer = server()
        peer.opens(wire.ENCODER, CAPACITY + INSERT)
        peer.asks(_asks(lines))
        peer.must_close(wire.QPACK_DECOMPRESSION_FAILED)


def an_entry_that_was_evicted_ends_the_connection(server):
    peer = server()
    # Room for one entry of 36 bytes: the second evicts the first.
    small = integer(60, 5, 0x20) + INSERT + INSERT
    peer.opens(wire.ENCODER, small)
    peer.asks(_asks(integer(1, 6, 0x80), required=b"\x03\x00"))
    peer.must_close(wire.QPACK_DECOMPRESSION_FAILED)


def a_dynamic_reference_in_a_section_that_needs_none_ends_the_connection(server):
    peer = server()
    peer.opens(wire.ENCODER, CAPACITY + INSERT)
    peer.asks(_asks(FIRST, required=b"\0\0"))
    peer.must_close(wire.QPACK_DECOMPRESSION_FAILED)


def a_section_that_was_decoded_is_acknowledged(server):
    # Section 2.2.2.1: and its insertion, by it or by a count (section 4.4.3).
    peer = server()
    peer.opens(wire.ENCODER, CAPACITY + INSERT)
    stream = peer.asks(_asks(FIRST))
    peer.must_answer(stream)
    peer.until(lambda: peer.unis(wire.DECODER), "the server's decoder stream")
    due = integer(stream, 7, 0x80)
    peer.until(lambda: due in peer.unis(wire.DECODER)[1], "a section acknowledgement")


def a_stream_that_was_given_up_is_cancelled(server):
    # Section 2.2.2.2.
    peer = server()
    stream = peer.asks(_asks(FIRST), fin=False)
    peer.must_live()
    peer.resets(stream)
    due = integer(stream, 6, 0x40)
    cancelled = lambda: peer.unis(wire.DECODER) and due in peer.unis(wire.DECODER)[1]
    peer.until(cancelled, "a stream cancellation")
