"""A client on raw QUIC: it says on its streams what it is told, and writes down what comes back.

QUIC is aioquic's; HTTP/3 is nobody's: every byte is the case's own."""

import select
import socket
import ssl
import time
from dataclasses import dataclass, field

import pylsqpack
from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection

import wire

# Seconds that a server may take for anything; a case that waits longer has failed.
PATIENCE = 60.0
# How long silence is listened to.
SILENCE = 0.15


class Broken(AssertionError):
    """The server did not do what is asked."""


@dataclass
class StreamRecord:
    """What came on one stream."""

    data: bytes = b""
    fin: bool = False
    reset: int | None = None
    stopped: int | None = None


@dataclass
class Closed:
    code: int
    reason: str
    # Whether the application closed (an HTTP/3 code) and not the transport.
    application: bool = field(default=True)


class Peer:
    """One connection. `said`: the settings on its control stream; None: no control stream yet."""

    def __init__(self, port, said=(), alpn="h3", wait=True, tickets=None, **quic):
        configuration = QuicConfiguration(
            alpn_protocols=[alpn], server_name="localhost", verify_mode=ssl.CERT_NONE, **quic
        )
        self.quic = QuicConnection(
            configuration=configuration, session_ticket_handler=tickets
        )
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.earlier_sockets = []
        # Whether anything has come to the port of now.
        self.reached = False
        self.address = ("127.0.0.1", port)
        self.records = {}
        self.closed = None
        self.connected = False
        self.sent = 0
        self.decoder = pylsqpack.Decoder(4096, 16)
        self.next_request = 0
        self.next_uni = 2
        self.quic.connect(self.address, now=time.monotonic())
        self.flush()
        if wait:
            self.until(lambda: self.connected, "the handshake")
            if said is not None:
                self.control = self.opens(wire.CONTROL, wire.settings(*said))

    # Sending.

    def opens(self, kind, rest=b"", fin=False):
        """A unidirectional stream of this type."""
        return self.opens_raw(wire.varint(kind) + rest, fin)

    def opens_raw(self, bytes, fin=False):
        stream, self.next_uni = self.next_uni, self.next_uni + 4
        self.says(stream, bytes, fin)
        return stream

    def asks(self, bytes, fin=True):
        """A request stream with these bytes."""
        stream, self.next_request = self.next_request, self.next_request + 4
        self.says(stream, bytes, fin)
        return stream

    def says(self, stream, bytes, fin=False):
        self.quic.send_stream_data(stream, bytes, fin)
        self.flush()

    def resets(self, stream, code=wire.H3_REQUEST_CANCELLED):
        self.quic.reset_stream(stream, code)
        self.flush()

    def stops(self, stream, code=wire.H3_REQUEST_CANCELLED):
        self.quic.stop_stream(stream, code)
        self.flush()

    def moves(self):
        """The peer goes on from another port, under the same connection id. It goes on to listen
        at its earlier ports: a server says its last word once, to the port that it knew then
        (RFC 9000 section 10.2.1)."""
        self.earlier_sockets.append(self.socket)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(self.address)
        self.socket.setblocking(False)
        self.reached = False

    def hangs_up(self):
        self.quic.close(error_code=wire.H3_NO_ERROR)
        self.flush()
        for each in (self.socket, *self.earlier_sockets):
            each.close()

    # Expectations.

    def must_close(self, code, transport=False):
        """The connection ends with this code."""
        self.until(lambda: self.closed, f"CONNECTION_CLOSE with {code:#x}")
        if self.closed.code != code or self.closed.application == transport:
            raise Broken(f"closed with {self.closed} where {code:#x} is due")

    def must_reset(self, stream, *codes):
        """The stream ends with one of these codes and the connection goes on."""
        record = self.record(stream)
        due = " or ".join(f"{code:#x}" for code in codes)
        self.until(lambda: record.reset is not None or record.fin, f"a reset with {due}")
        if record.reset not in codes:
            raise Broken(f"{record} where a reset with {due} is due")
        self.must_live()

    def must_refuse(self, stream, code=wire.H3_MESSAGE_ERROR):
        """The request is malformed (RFC 9114 section 4.1.2): a 4xx answer, or this reset."""
        record = self.record(stream)
        self.until(lambda: record.reset is not None or record.fin, "a refusal")
        if record.reset is None:
            status = self.answer(stream)[0]
            if not 400 <= status < 500:
                raise Broken(f"status {status} where the request is malformed")
        elif record.reset != code:
            raise Broken(f"reset with {record.reset:#x} where {code:#x} is due")
        self.must_live()

    def must_answer(self, stream, status=200, body=None):
        """The whole answer comes."""
        record = self.record(stream)
        self.until(lambda: record.fin or record.reset is not None, f"an answer on {stream}")
        got = self.answer(stream)
        if got[0] != status or body is not None and got[2] != body:
            raise Broken(f"{got[0]} with {got[2][:80]!r} where {status} with {body!r} is due")
        return got

    def must_live(self):
        """The connection serves another request."""
        self.must_answer(self.asks(wire.get()))

    def must_stay_silent(self, stream=None):
        """Nothing comes on a stream, and the connection stays open."""
        self.wait(SILENCE)
        if self.closed:
            raise Broken(f"closed with {self.closed} where nothing is due")
        if stream is not None and self.record(stream) != StreamRecord():
            raise Broken(f"{self.record(stream)} where nothing is due")

    # Received.

    def record(self, stream):
        return self.records.setdefault(stream, StreamRecord())

    def answer(self, stream):
        """Status, fields and body of an answer; interim ones are left out."""
        record = self.record(stream)
        if record.reset is not None:
            raise Broken(f"stream {stream} was reset with {record.reset:#x}")
        status, fields, body, trailers = None, [], b"", []
        for kind, payload in wire.frames(record.data):
            if kind == wire.DATA:
                body += payload
            elif kind == wire.HEADERS:
                self.learn()
                _, found = self.decoder.feed_header(stream, payload)
                if status is None or 100 <= status < 200:
                    status, fields = int(found[0][1]), found
                else:
                    trailers = found
        if status is None:
            raise Broken(f"no answer on {stream}: {record}")
        return status, fields, body, trailers

    def unis(self, kind):
        """What the server says on its stream of this type, without the type; None: there is none."""
        for stream, record in self.records.items():
            first = wire.take_varint(record.data) if stream & 3 == 3 else None
            if first and first[0] == kind:
                return stream, first[1]
        return None

    def learn(self):
        """The server's encoder stream goes to our decoder."""
        found = self.unis(wire.ENCODER)
        if found:
            heard = getattr(self, "heard", 0)
            self.decoder.feed_encoder(found[1][heard:])
            self.heard = len(found[1])

    # Packets.

    def until(self, is_done, what):
        end = time.monotonic() + PATIENCE
        while not is_done():
            if self.closed:
                raise Broken(f"closed with {self.closed} where {what} is due")
            if time.monotonic() > end:
                raise Broken(f"{what} is due and did not come")
            self.turn(end)

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.closed:
            self.turn(end)

    def turn(self, end):
        """Waits for packets or a timer, up to `end`, and handles what came."""
        timer = self.quic.get_timer()
        until = min(end, timer) if timer else end
        sockets = [self.socket, *self.earlier_sockets]
        readable, _, _ = select.select(sockets, [], [], max(0, until - time.monotonic()))
        now = time.monotonic()
        for each in readable:
            try:
                while True:
                    self.quic.receive_datagram(each.recv(65536), self.address, now)
                    self.reached |= each is self.socket
            except BlockingIOError:
                pass
        if not readable and timer and timer <= now:
            self.quic.handle_timer(now)
        while event := self.quic.next_event():
            self.note(event)
        self.flush()

    def flush(self):
        for packet, _ in self.quic.datagrams_to_send(now=time.monotonic()):
            self.sent += len(packet)
            try:
                self.socket.send(packet)
            except BlockingIOError:
                pass  # lost, as packets may be

    def note(self, event):
        if isinstance(event, events.HandshakeCompleted):
            self.connected = True
        elif isinstance(event, events.StreamDataReceived):
            record = self.record(event.stream_id)
            record.data += event.data
            record.fin |= event.end_stream
        elif isinstance(event, events.StreamReset):
            self.record(event.stream_id).reset = event.error_code
        elif isinstance(event, events.StopSendingReceived):
            self.record(event.stream_id).stopped = event.error_code
        elif isinstance(event, events.ConnectionTerminated):
            application = event.frame_type is None
            self.closed = Closed(event.error_code, event.reason_phrase, application)
