"""aioquic's HTTP/3 as a foreign client: one case per run, its outcome on standard output."""

import argparse
import asyncio
import socket
import ssl
import struct
import sys
from functools import cache

from aioquic.asyncio import QuicConnectionProtocol, connect
from aioquic.buffer import Buffer, BufferReadError
from aioquic.h3.connection import FrameType, H3Connection
from aioquic.h3.events import DatagramReceived, DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, StreamDataReceived, StreamReset
from aioquic.quic.packet import QuicProtocolVersion
from keys import new_keys


@cache
def ten_mebibytes():
    """No part is like another: a lost or doubled frame shows."""
    return b"".join(
        struct.pack("<I", word * 0x9E3779B9 & 0xFFFFFFFF) for word in range(10 * 2**20 // 4)
    )


class Control:
    """The peer's control stream, read a second time: aioquic skips GOAWAY."""

    def __init__(self):
        self.bytes, self.last_ids = b"", []
        self.moved = asyncio.Event()

    def receive(self, event):
        # The first stream that a server opens for one direction; its type is one byte.
        if not isinstance(event, StreamDataReceived) or event.stream_id != 3:
            return
        self.bytes += event.data
        buffer, self.last_ids = Buffer(data=self.bytes[1:]), []
        try:
            while not buffer.eof():
                kind = buffer.pull_uint_var()
                payload = Buffer(data=buffer.pull_bytes(buffer.pull_uint_var()))
                if kind == FrameType.GOAWAY:
                    self.last_ids.append(payload.pull_uint_var())
        except BufferReadError:
            pass  # The rest of the frame is under way.
        self.moved.set()


class Answer:
    """What came on one stream."""

    def __init__(self):
        self.heads, self.body, self.reset = [], bytearray(), None
        self.datagrams = []
        self.ended, self.moved = asyncio.Event(), asyncio.Event()

    @property
    def status(self):
        finals = [head for head in self.heads if not head[b":status"].startswith(b"1")]
        return int(finals[0][b":status"])

    async def until(self, length):
        """Waits for so many bytes of the body."""
        while len(self.body) < length and not self.ended.is_set():
            self.moved.clear()
            await self.moved.wait()


class Client(QuicConnectionProtocol):
    """A connection; requests by path."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        # aioquic announces HTTP datagrams with WebTransport alone.
        has_datagrams = self._quic.configuration.max_datagram_frame_size is not None
        self.http = H3Connection(self._quic, enable_webtransport=has_datagrams)
        self.control = Control()
        self.answers = {}
        self.end = None

    def quic_event_received(self, event):
        self.control.receive(event)
        if isinstance(event, StreamReset) and event.stream_id in self.answers:
            answer = self.answers[event.stream_id]
            answer.reset = event.error_code
            answer.ended.set()
            answer.moved.set()
        if isinstance(event, ConnectionTerminated):
            self.end = event
            for answer in self.answers.values():
                answer.ended.set()
                answer.moved.set()
        for event in self.http.handle_event(event):
            answer = self.answers.get(event.stream_id)
            if answer is None:
                continue
            if isinstance(event, DatagramReceived):
                answer.datagrams.append(event.data)
                answer.moved.set()
                continue
            if isinstance(event, HeadersReceived):
                answer.heads.append(dict(event.headers))
            elif isinstance(event, DataReceived):
                answer.body += event.data
            if event.stream_ended:
                answer.ended.set()
            answer.moved.set()

    def ask(self, method, path, body=None, end=True, fields=()):
        """Starts a request."""
        stream = self._quic.get_next_available_stream_id()
        answer = self.answers[stream] = Answer()
        answer.stream = stream
        name = f"localhost:{self.port}"
        head = [
            (b":method", method.encode()),
            (b":scheme", b"https"),
            (b":authority", name.encode()),
            (b":path", path.encode()),
            *fields,
        ]
        self.http.send_headers(stream, head, end_stream=end and body is None)
        if body is not None:
            self.http.send_data(stream, body, end_stream=end)
        self.transmit()
        return answer

    async def whole(self, method, path, **kwargs):
        """A request and its whole answer."""
        answer = self.ask(method, path, **kwargs)
        await answer.ended.wait()
        if answer.reset is not None:
            raise SystemExit(f"{path}: reset with {answer.reset:#x}")
        if self.end is not None:
            raise SystemExit(f"{path}: the connection ended: {self.end}")
        return answer


def say_same(answer):
    print("same:", str(answer.body == ten_mebibytes()).lower())


async def get(client):
    answer = await client.whole("GET", "/version")
    print(answer.status, answer.body.decode())


async def echo(client):
    body = ten_mebibytes()[: client.echo_bytes]
    answer = await client.whole("POST", "/echo", body=body)
    print("same:", str(answer.body == body).lower())


async def trailers(client):
    answer = client.ask("POST", "/trailers", body=b"body", end=False)
    client.http.send_headers(answer.stream, [(b"x-sent", b"theirs")], end_stream=True)
    client.transmit()
    await answer.ended.wait()
    print(answer.body.decode(), answer.heads[-1][b"x-heard"].decode())


async def invited(client):
    answer = client.ask("POST", "/count", end=False, fields=[(b"expect", b"100-continue")])
    while not answer.heads:
        await answer.moved.wait()
    print("interim", answer.heads[0][b":status"].decode())
    client.http.send_data(answer.stream, b"hello", end_stream=True)
    client.transmit()
    await answer.ended.wait()
    print(answer.status, answer.body.decode())


async def hints(client):
    answer = await client.whole("GET", "/early")
    interim, final = answer.heads
    print("interim", interim[b":status"].decode(), interim[b"link"].decode())
    print(final[b":status"].decode(), answer.body.decode())


async def again(client):
    answer = await client.whole("GET", "/bytes/1024")
    print("again", len(answer.body))


async def reset(client):
    answer = client.ask("GET", "/cut")
    await answer.until(512)
    await client.whole("GET", "/release")
    await answer.ended.wait()
    print(f"reset {answer.reset:#x}")
    await again(client)


async def cancel(client):
    answer = client.ask("GET", "/never")
    await answer.until(1)
    client._quic.stop_stream(answer.stream, 0x10C)
    client.transmit()
    print((await client.whole("GET", "/gone")).body.decode())
    # Now in the middle of an upload: the request is reset.
    answer = client.ask("POST", "/never", body=b"a part", end=False)
    await answer.until(1)
    client._quic.reset_stream(answer.stream, 0x10C)
    client._quic.stop_stream(answer.stream, 0x10C)
    client.transmit()
    print((await client.whole("GET", "/gone")).body.decode())
    await again(client)


async def refuse(client):
    answer = client.ask("POST", "/refuse", body=ten_mebibytes())
    await answer.ended.wait()
    print("refused", answer.status)
    await again(client)


async def keys(client):
    """New keys, again and again in the middle of a transfer."""
    answer = client.ask("GET", "/ten")
    for number in range(1, 6):
        await answer.until(number * 2**20)
        await new_keys(client)
    await answer.ended.wait()
    say_same(answer)


async def rebind(client):
    """The client's address changes in the middle of a download, without its knowledge (the same
    connection id), and then with it (a new one)."""
    loop = asyncio.get_running_loop()
    answer = client.ask("GET", "/ten")
    for number in range(2):
        await answer.until((number + 1) * 3 * 2**20)
        old = client._transport
        fresh = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        fresh.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        fresh.bind(("::", 0, 0, 0))
        await loop.create_datagram_endpoint(lambda: client, sock=fresh)
        old.close()
        if number == 1:
            client.change_connection_id()
        await client.ping()
    await answer.ended.wait()
    say_same(answer)


async def hold(client):
    """Many answers under way until the server lets go."""
    answers = [client.ask("GET", "/hold") for _ in range(50)]
    for answer in answers:
        await answer.until(1)
    print("held", len(answers))
    while not client.control.last_ids:
        await client.control.moved.wait()
        client.control.moved.clear()
    print("told")
    for answer in answers:
        await answer.ended.wait()
    print("whole", sum(answer.body == b"held and let go" for answer in answers))
    await client.wait_closed()
    print("goaway", client.control.last_ids, "end", f"{client.end.error_code:#x}")


async def websocket(client):
    """A tunnel for a WebSocket (RFC 9220): its bytes are standard input and output."""
    # The server's SETTINGS, which allow it, come before this answer.
    await client.whole("GET", "/plain")
    fields = [(b":protocol", b"websocket"), (b"sec-websocket-version", b"13")]
    answer = client.ask("CONNECT", "/echo", end=False, fields=fields)
    while not answer.heads:
        await answer.moved.wait()
    if answer.status != 200:
        raise SystemExit(f"the tunnel was refused with {answer.status}")
    passing = asyncio.create_task(pass_input(client, answer))
    given, length = 0, 1
    while given < length:
        await answer.until(given + 1)
        length = len(answer.body)
        sys.stdout.buffer.write(answer.body[given:])
        sys.stdout.buffer.flush()
        given, length = length, length + (not answer.ended.is_set())
    passing.cancel()


async def datagrams(client):
    """A tunnel with datagrams (RFC 9297) beside its bytes."""
    await client.whole("GET", "/version")
    fields = [(b":protocol", b"connect-udp")]
    answer = client.ask("CONNECT", "/datagrams", end=False, fields=fields)
    while not answer.heads:
        await answer.moved.wait()
    for datagram in [b"", b"ping", b"x" * 1000]:
        client.http.send_datagram(answer.stream, datagram)
        client.transmit()
        while not answer.datagrams:
            answer.moved.clear()
            await answer.moved.wait()
        print("datagram", len(answer.datagrams[0]), answer.datagrams.pop(0) == datagram)
    client.http.send_data(answer.stream, b"bytes", end_stream=True)
    client.transmit()
    await answer.ended.wait()
    print(answer.body.decode())
    # One about a request that has none.
    answer = client.ask("POST", "/echo", body=b"", end=False)
    while not answer.heads:
        await answer.moved.wait()
    client.http.send_datagram(answer.stream, b"what for?")
    client.transmit()
    await answer.ended.wait()
    print(f"reset {answer.reset:#x}")


async def pass_input(client, answer):
    source = asyncio.StreamReader()
    pipe = lambda: asyncio.StreamReaderProtocol(source)
    await asyncio.get_running_loop().connect_read_pipe(pipe, sys.stdin)
    while data := await source.read(2**16):
        client.http.send_data(answer.stream, data, end_stream=False)
        client.transmit()
    client.http.send_data(answer.stream, b"", end_stream=True)
    client.transmit()


async def half_open(arguments):
    """Handshakes that are begun and never go on."""
    address = ("127.0.0.1", arguments.port)
    for _ in range(arguments.number):
        made = configuration(arguments)
        # None of them may end by itself while the others are begun.
        made.idle_timeout = 600.0
        quic = QuicConnection(configuration=made)
        quic.connect(address, now=0.0)
        # One at a time, each heard on a socket of its own: none is lost in a full one.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as socket_:
            for datagram, _ in quic.datagrams_to_send(now=0.0):
                socket_.sendto(datagram, address)
            socket_.recv(2048)
    print("begun", arguments.number)


async def early(arguments):
    """Requests that go out with the handshake of a resumed session (RFC 9001 section 4.6)."""
    tickets = []
    for path, method in [("/when", "GET"), ("/when", "GET"), ("/when", "POST")]:
        made = configuration(arguments)
        if tickets:
            made.session_ticket = tickets.pop()
        opening = connect(
            "127.0.0.1",
            arguments.port,
            configuration=made,
            create_protocol=Client,
            session_ticket_handler=tickets.append,
            wait_connected=made.session_ticket is None,
        )
        async with opening as client:
            client.port = arguments.port
            answer = await client.whole(method, path)
            taken = client._quic.tls.early_data_accepted
            print(answer.status, answer.body.decode(), "taken" if taken else "not taken")


def configuration(arguments):
    made = QuicConfiguration(is_client=True, alpn_protocols=["h3"], server_name="localhost")
    made.verify_mode = ssl.CERT_REQUIRED
    made.load_verify_locations(cafile=arguments.root)
    if arguments.cases == ["datagrams"]:
        made.max_datagram_frame_size = 65535
    if arguments.cases == ["versions"]:
        # First a reserved version, which no peer supports (RFC 9000 section 15), then version 1.
        made.original_version = 0x1A2A3A4A
        made.supported_versions = [0x1A2A3A4A, QuicProtocolVersion.VERSION_1]
    return made


CASES = {
    "get": get,
    "versions": get,
    "echo": echo,
    "trailers": trailers,
    "continue": invited,
    "hints": hints,
    "reset": reset,
    "cancel": cancel,
    "refuse": refuse,
    "keys": keys,
    "rebind": rebind,
    "hold": hold,
    "websocket": websocket,
    "datagrams": datagrams,
}


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--root", required=True)
    parser.add_argument("--number", type=int, default=1)
    # At most ten. Python takes 0.2 s of a processor for each.
    parser.add_argument("--echo-mebibytes", type=int, default=10)
    parser.add_argument("cases", nargs="+", choices=[*CASES, "early", "half-open"])
    arguments = parser.parse_args()
    if arguments.cases == ["half-open"]:
        return await half_open(arguments)
    if arguments.cases == ["early"]:
        return await early(arguments)
    for name in arguments.cases:
        # The output of one among several begins with its name.
        if len(arguments.cases) > 1:
            print("==", name)
        await carry_out(name, arguments)


async def carry_out(name, arguments):
    """One case on a connection of its own."""
    opening = connect(
        "127.0.0.1",
        arguments.port,
        configuration=configuration(arguments),
        create_protocol=Client,
    )
    async with opening as client:
        client.port = arguments.port
        client.echo_bytes = arguments.echo_mebibytes * 2**20
        await CASES[name](client)


asyncio.run(asyncio.wait_for(main(), 100))
