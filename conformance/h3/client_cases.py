"""A raw HTTP/3 server that breaks a rule of RFC 9114 or 9204 in its answer, one per path, and says
what the client made of it: `client_cases.py CERTIFICATE KEY`.

It says its port, then the names of all cases in one line, then for each connection `ok NAME`, or
`not ok NAME: WHY`. A case whose name begins with `good_` breaks nothing: the client must be served."""

import asyncio
import sys

import pylsqpack
from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration

import wire

OK = wire.headers((":status", "200"))
EARLY = wire.headers((":status", "103"), ("link", "</a>"))
BODY = wire.data(b"ok")


class Close:
    """The client must end the connection with this code."""

    def __init__(self, code, transport=False):
        self.code, self.transport = code, transport


class Stop:
    """The client must give this stream up with this code."""

    def __init__(self, code=wire.H3_MESSAGE_ERROR):
        self.code = code


class Good:
    """The client must take the answer."""


def _control(says, *more, settings=None):
    says(3, wire.varint(wire.CONTROL) + (settings or wire.settings()) + b"".join(more))


def _answers(bytes, due):
    def case(says, stream):
        _control(says)
        says(stream, bytes)
        return due

    return case


def _controls(bytes, due):
    def case(says, stream):
        _control(says, bytes)
        return due

    return case


def _settings(bytes, due):
    def case(says, stream):
        _control(says, settings=bytes)
        return due

    return case


def _opens(bytes, due, fin=False):
    def case(says, stream):
        _control(says)
        says(7, bytes, fin)
        return due

    return case


def _good(bytes):
    def case(says, stream):
        _control(says, wire.frame(wire.GREASE, b"x"))
        says(7, wire.varint(wire.GREASE) + b"nothing", True)
        says(stream, bytes, True)
        return Good()

    return case


def _ended_control(says, stream):
    _control(says)
    says(3, b"", True)
    return Close(wire.H3_CLOSED_CRITICAL_STREAM)


def _truncated(says, stream):
    _control(says)
    says(stream, OK + BODY[:-1], True)
    return Close(wire.H3_FRAME_ERROR)


UNEXPECTED = Close(wire.H3_FRAME_UNEXPECTED)
ID = Close(wire.H3_ID_ERROR)
TWICE = wire.settings((6, 1), (6, 1))
GREASE = wire.frame(wire.GREASE, b"x")

CASES = {
    # RFC 9114 section 4.1.
    "good_answer": _good(OK + BODY),
    "good_answer_with_interim_grease_and_trailers": _good(
        EARLY + GREASE + EARLY + OK + GREASE + BODY + wire.headers(("x", "y"))
    ),
    "data_before_headers": _answers(BODY, UNEXPECTED),
    "headers_behind_trailers": _answers(OK + OK.replace(b":status", b"x-state") * 2, UNEXPECTED),
    # Section 4.1.2.
    "no_status": _answers(wire.headers(("x", "y")), Stop()),
    "two_statuses": _answers(wire.headers((":status", "200"), (":status", "200")), Stop()),
    "a_status_that_is_no_number": _answers(wire.headers((":status", "2x0")), Stop()),
    "a_pseudo_field_of_requests": _answers(wire.headers((":status", "200"), (":path", "/")), Stop()),
    "an_upper_case_name": _answers(wire.headers((":status", "200"), ("Upper", "1")), Stop()),
    "a_line_break_in_a_value": _answers(wire.headers((":status", "200"), ("x", "a\r\nb")), Stop()),
    "a_connection_field": _answers(
        wire.headers((":status", "200"), ("connection", "close")), Stop()
    ),
    "a_body_longer_than_announced": _answers(
        wire.headers((":status", "200"), ("content-length", "1")) + BODY, Stop()
    ),
    # Section 4.5.
    "switching_protocols": _answers(wire.headers((":status", "101")), Stop()),
    # Section 4.6.
    "a_push_promise": _answers(wire.frame(wire.PUSH_PROMISE, b"\0" + wire.PREFIX), ID),
    "a_push_stream": _opens(wire.varint(wire.PUSH) + b"\0", ID),
    # Section 5.2.
    "a_goaway_of_no_request": _controls(wire.number(wire.GOAWAY, 1), ID),
    "a_goaway_that_rises": _controls(
        wire.number(wire.GOAWAY, 8) + wire.number(wire.GOAWAY, 12), ID
    ),
    # Section 6.2.1.
    "no_settings": _settings(wire.number(wire.GOAWAY, 0), Close(wire.H3_MISSING_SETTINGS)),
    "a_second_control_stream": _opens(
        wire.varint(wire.CONTROL) + wire.settings(), Close(wire.H3_STREAM_CREATION_ERROR)
    ),
    "a_control_stream_that_ends": _ended_control,
    # Section 7.1.
    "a_frame_cut_off": _truncated,
    "a_goaway_that_is_too_long": _controls(
        wire.frame(wire.GOAWAY, b"\0\0"), Close(wire.H3_FRAME_ERROR)
    ),
    # Section 7.2.
    "data_on_the_control_stream": _controls(BODY, UNEXPECTED),
    "headers_on_the_control_stream": _controls(OK, UNEXPECTED),
    "cancel_push_on_a_request": _answers(wire.number(wire.CANCEL_PUSH, 0), UNEXPECTED),
    "cancel_push_of_nothing": _controls(wire.number(wire.CANCEL_PUSH, 0), ID),
    "second_settings": _controls(wire.settings(), UNEXPECTED),
    "settings_on_a_request": _answers(wire.settings(), UNEXPECTED),
    "a_setting_twice": _settings(TWICE, Close(wire.H3_SETTINGS_ERROR)),
    "a_setting_of_http2": _settings(wire.settings((2, 1)), Close(wire.H3_SETTINGS_ERROR)),
    "a_connect_setting_of_2": _settings(
        wire.settings((wire.ENABLE_CONNECT_PROTOCOL, 2)), Close(wire.H3_SETTINGS_ERROR)
    ),
    "goaway_on_a_request": _answers(wire.number(wire.GOAWAY, 0), UNEXPECTED),
    "max_push_id": _controls(wire.number(wire.MAX_PUSH_ID, 1), UNEXPECTED),
    "a_frame_of_http2": _answers(wire.frame(6, b"\0" * 8), UNEXPECTED),
    # RFC 9204.
    "a_section_that_does_not_decode": _answers(
        wire.frame(wire.HEADERS, b"\0\0\xff\xff\xff\x7f"), Close(wire.QPACK_DECOMPRESSION_FAILED)
    ),
    "a_capacity_that_is_too_large": _opens(
        wire.varint(wire.ENCODER) + b"\x3f\xff\xff\x7f", Close(wire.QPACK_ENCODER_STREAM_ERROR)
    ),
    "an_increment_of_0": _opens(
        wire.varint(wire.DECODER) + b"\0", Close(wire.QPACK_DECODER_STREAM_ERROR)
    ),
    "an_encoder_stream_that_ends": _opens(
        wire.varint(wire.ENCODER), Close(wire.H3_CLOSED_CRITICAL_STREAM), fin=True
    ),
}


class Server(QuicConnectionProtocol):
    """One connection: the path of its first request is its case."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.request = b""
        self.name = self.due = None

    def quic_event_received(self, event):
        if isinstance(event, events.StreamDataReceived) and event.stream_id == 0:
            self.request += event.data
            if event.end_stream and self.name is None:
                self.begin()
        elif isinstance(event, events.StopSendingReceived) and isinstance(self.due, Stop):
            self.judge(event.error_code == self.due.code, f"stopped with {event.error_code:#x}")
        elif isinstance(event, events.ConnectionTerminated) and self.due:
            said = f"closed with {event.error_code:#x} {event.reason_phrase!r}"
            if isinstance(self.due, Good):
                self.judge(event.error_code == wire.H3_NO_ERROR, said)
            else:
                due = getattr(self.due, "code", None)
                is_close = isinstance(self.due, Close)
                self.judge(is_close and event.error_code == due, said)

    def begin(self):
        kind, payload = wire.frames(self.request)[0]
        _, fields = pylsqpack.Decoder(0, 0).feed_header(0, payload)
        self.name = dict(fields)[b":path"][1:].decode()

        def says(stream, bytes, fin=False):
            self._quic.send_stream_data(stream, bytes, fin)

        self.due = CASES[self.name](says, 0)
        self.transmit()

    def judge(self, is_good, said):
        print(f"ok {self.name}" if is_good else f"not ok {self.name}: {said}", flush=True)
        self.due = None


async def main():
    configuration = QuicConfiguration(is_client=False, alpn_protocols=["h3"])
    configuration.load_cert_chain(sys.argv[1], sys.argv[2])
    server = await serve("127.0.0.1", 0, configuration=configuration, create_protocol=Server)
    print(server._transport.get_extra_info("sockname")[1], flush=True)
    print(" ".join(CASES), flush=True)
    await asyncio.Future()


asyncio.run(main())
