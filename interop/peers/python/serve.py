"""aioquic's HTTP/3 as a foreign server."""

import argparse
import asyncio

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.buffer import encode_uint_var
from aioquic.h3.connection import FrameType, H3Connection, encode_frame
from aioquic.h3.events import DatagramReceived, DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, StopSendingReceived, StreamReset
from keys import new_keys

TEXT = b"x" * 1024
GONE = asyncio.Semaphore(0)


class Server(QuicConnectionProtocol):
    """A connection."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.http = None
        self.is_leaving = False
        # By stream: path, body, field x-sent of the trailers.
        self.requests = {}

    def quic_event_received(self, event):
        if isinstance(event, ConnectionTerminated) or self._quic._close_event:
            return
        if self.http is None:
            # aioquic announces HTTP datagrams with WebTransport alone.
            has_datagrams = self._quic.configuration.max_datagram_frame_size is not None
            self.http = H3Connection(self._quic, enable_webtransport=has_datagrams)
        if isinstance(event, (StreamReset, StopSendingReceived)):
            request = self.requests.pop(event.stream_id, None)
            if request is not None and request["path"] == "/never":
                GONE.release()
        for event in self.http.handle_event(event):
            if isinstance(event, DatagramReceived):
                self.http.send_datagram(event.stream_id, event.data)
                continue
            if isinstance(event, HeadersReceived):
                self.head(event)
            elif isinstance(event, DataReceived):
                self.data(event)
            request = self.requests.get(event.stream_id)
            if event.stream_ended and request is not None:
                self.answer(event.stream_id, request)

    def head(self, event):
        fields = dict(event.headers)
        if event.stream_id in self.requests:
            self.requests[event.stream_id]["x-sent"] = fields.get(b"x-sent", b"none")
            return
        request = {"path": fields[b":path"].decode(), "method": fields[b":method"], "body": b""}
        request["early"] = not self._quic._handshake_complete
        self.requests[event.stream_id] = request
        if request["path"] in ("/echo", "/datagrams"):
            self.say(event.stream_id, 200)
        elif request["path"] == "/refuse":
            self.say(event.stream_id, 413, end=True)
            self._quic.stop_stream(event.stream_id, 0x100)
            self.requests.pop(event.stream_id)

    def data(self, event):
        request = self.requests.get(event.stream_id)
        if request is None:
            return
        if request["path"] in ("/echo", "/datagrams"):
            self.http.send_data(event.stream_id, event.data, end_stream=False)
        else:
            request["body"] += event.data

    def say(self, stream, status, fields=(), end=False):
        head = [(b":status", str(status).encode()), *fields]
        self.http.send_headers(stream, head, end_stream=end)

    def answer(self, stream, request):
        path = request["path"]
        if path == "/never":
            self.say(stream, 200)
            self.http.send_data(stream, TEXT, end_stream=False)
            return
        self.requests.pop(stream)
        if path in ("/echo", "/datagrams"):
            self.http.send_data(stream, b"", end_stream=True)
        elif path == "/gone":
            asyncio.ensure_future(self.gone(stream))
        elif path == "/trailers":
            self.say(stream, 200, [(b"trailer", b"x-heard, x-sum")])
            self.http.send_data(stream, request["body"], end_stream=False)
            trailers = [(b"x-heard", request["x-sent"]), (b"x-sum", b"42")]
            self.http.send_headers(stream, trailers, end_stream=True)
        elif path == "/early":
            self.say(stream, 103, [(b"link", b"</style.css>; rel=preload")])
            self.body(stream, b"done")
        elif path == "/reset":
            self.say(stream, 200)
            self.http.send_data(stream, TEXT[:512], end_stream=False)
            self._quic.reset_stream(stream, 0x102)
        elif path == "/keys":
            asyncio.ensure_future(self.keys(stream))
        elif path == "/last":
            # Streams after this one are not served here (RFC 9114 section 5.2).
            if not self.is_leaving:
                self.is_leaving = True
                frame = encode_frame(FrameType.GOAWAY, encode_uint_var(stream + 4))
                self._quic.send_stream_data(self.http._local_control_stream_id, frame)
            self.body(stream, b"last")
        elif path == "/when":
            self.body(stream, b"early" if request["early"] else b"late")
        elif path == "/version":
            self.body(stream, b"HTTP/3.0")
        elif request["method"] == b"HEAD":
            self.say(stream, 200, [(b"content-length", b"1024")], end=True)
        else:
            self.body(stream, TEXT)

    def body(self, stream, body):
        self.say(stream, 200, [(b"content-length", str(len(body)).encode())])
        self.http.send_data(stream, body, end_stream=True)

    async def keys(self, stream):
        await new_keys(self)
        self.body(stream, b"new keys")
        self.transmit()

    async def gone(self, stream):
        await GONE.acquire()
        self.body(stream, b"gone")
        self.transmit()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--cert", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--retry", action="store_true")
    parser.add_argument("--datagrams", action="store_true")
    parser.add_argument("--early", action="store_true")
    arguments = parser.parse_args()
    configuration = QuicConfiguration(is_client=False, alpn_protocols=["h3"])
    if arguments.datagrams:
        configuration.max_datagram_frame_size = 65535
    configuration.load_cert_chain(arguments.cert, arguments.key)
    tickets = {}
    sessions = {}
    if arguments.early:
        # Each is used once.
        sessions["session_ticket_fetcher"] = lambda label: tickets.pop(label, None)
        sessions["session_ticket_handler"] = lambda it: tickets.update({it.ticket: it})
    await serve(
        "127.0.0.1",
        arguments.port,
        configuration=configuration,
        create_protocol=Server,
        retry=arguments.retry,
        **sessions,
    )
    # No client connects there: a listener on TCP shows that UDP is ready.
    ready = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", arguments.port)
    await ready.serve_forever()


asyncio.run(main())
