"""Bytes of HTTP/3, made by hand, so that wrong ones can be made too."""

DATA, HEADERS, CANCEL_PUSH, SETTINGS, PUSH_PROMISE, GOAWAY, MAX_PUSH_ID = 0, 1, 3, 4, 5, 7, 0xD
PRIORITY_UPDATE = 0xF0700
CONTROL, PUSH, ENCODER, DECODER = 0, 1, 2, 3
# Reserved for nothing (RFC 9114 sections 6.2.3, 7.2.4.1, 7.2.8 and 8.1).
GREASE = 0x1F * 1000 + 0x21

QPACK_MAX_TABLE_CAPACITY, MAX_FIELD_SECTION_SIZE, QPACK_BLOCKED_STREAMS = 1, 6, 7
ENABLE_CONNECT_PROTOCOL, H3_DATAGRAM = 8, 0x33

H3_DATAGRAM_ERROR = 0x33
H3_NO_ERROR = 0x100
H3_GENERAL_PROTOCOL_ERROR = 0x101
H3_INTERNAL_ERROR = 0x102
H3_STREAM_CREATION_ERROR = 0x103
H3_CLOSED_CRITICAL_STREAM = 0x104
H3_FRAME_UNEXPECTED = 0x105
H3_FRAME_ERROR = 0x106
H3_EXCESSIVE_LOAD = 0x107
H3_ID_ERROR = 0x108
H3_SETTINGS_ERROR = 0x109
H3_MISSING_SETTINGS = 0x10A
H3_REQUEST_REJECTED = 0x10B
H3_REQUEST_CANCELLED = 0x10C
H3_REQUEST_INCOMPLETE = 0x10D
H3_MESSAGE_ERROR = 0x10E
H3_CONNECT_ERROR = 0x10F
QPACK_DECOMPRESSION_FAILED = 0x200
QPACK_ENCODER_STREAM_ERROR = 0x201
QPACK_DECODER_STREAM_ERROR = 0x202
STREAM_LIMIT_ERROR = 0x4


def varint(value):
    for size, mark in ((1, 0), (2, 1), (4, 2), (8, 3)):
        if value < 1 << (size * 8 - 2):
            return (value | mark << (size * 8 - 2)).to_bytes(size, "big")
    raise ValueError(value)


def take_varint(data):
    """The integer at the front and the bytes behind it; None when it is not all there."""
    if not data:
        return None
    size = 1 << (data[0] >> 6)
    if len(data) < size:
        return None
    value = int.from_bytes(data[:size], "big") & ((1 << (size * 8 - 2)) - 1)
    return value, data[size:]


def frame(kind, payload=b""):
    return varint(kind) + varint(len(payload)) + payload


def settings(*pairs):
    return frame(SETTINGS, b"".join(varint(id) + varint(value) for id, value in pairs))


def number(kind, value):
    """A frame that is one integer."""
    return frame(kind, varint(value))


def data(body):
    return frame(DATA, body)


def integer(value, bits, mark):
    """An integer with a prefix of so many bits (RFC 7541 section 5.1), `mark` above it."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([mark | value])
    out, value = bytearray([mark | most]), value - most
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def text(value, bits=7, mark=0):
    """A string literal without Huffman coding."""
    value = value if isinstance(value, bytes) else value.encode()
    return integer(len(value), bits, mark) + value


def literal(name, value):
    """A field line with a literal name (RFC 9204 section 4.5.6)."""
    return text(name, 3, 0x20) + text(value)


PREFIX = b"\0\0"


def section(*fields):
    return PREFIX + b"".join(literal(name, value) for name, value in fields)


def headers(*fields):
    return frame(HEADERS, section(*fields))


def pseudo(method="GET", path="/", scheme="https", authority="localhost"):
    fields = ((":method", method), (":scheme", scheme), (":authority", authority), (":path", path))
    return tuple((name, value) for name, value in fields if value is not None)


def get(path="/", *more):
    return headers(*pseudo(path=path), *more)


def post(path="/echo", *more):
    return headers(*pseudo(method="POST", path=path), *more)


def frames(stream):
    """The frames of a request stream, whole ones only."""
    found = []
    while True:
        kind = take_varint(stream)
        size = kind and take_varint(kind[1])
        if not size or len(size[1]) < size[0]:
            return found
        found.append((kind[0], size[1][: size[0]]))
        stream = size[1][size[0] :]
