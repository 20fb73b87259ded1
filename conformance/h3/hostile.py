"""A hostile HTTP/3 server, over raw QUIC: `hostile.py NAME` prints its address.

NAME is a function of this file, which meets every connection when its first request is there: its
argument sends on streams. It ends with its standard input."""

import asyncio
import datetime
import ssl
import sys
import tempfile
import time

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import wire

OK = wire.headers((":status", "200"))
EARLY = wire.headers((":status", "103"), ("link", "</a>"))
# Our streams: control, then others.
CONTROL, OTHER = 3, 7
FLOOD_SECONDS = 8
# Bytes that may wait in the QUIC library before a flood pauses.
WAITING_MAX = 1 << 20


class Peer(QuicConnectionProtocol):
    """One connection."""

    attack = None

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.met = self.ended = False
        self.requests = []

    def quic_event_received(self, event):
        if isinstance(event, events.ConnectionTerminated):
            self.ended = True
        elif isinstance(event, events.StreamDataReceived) and event.stream_id % 4 == 0:
            if event.stream_id not in self.requests:
                self.requests.append(event.stream_id)
                asyncio.ensure_future(self.meet(event.stream_id))

    async def meet(self, stream):
        if not self.met:
            self.met = True
            self.says(CONTROL, wire.varint(wire.CONTROL) + wire.settings())
        result = Peer.attack(self, stream)
        if result is not None:
            await result

    def says(self, stream, bytes, fin=False):
        if self.ended:
            return
        try:
            self._quic.send_stream_data(stream, bytes, fin)
        except RuntimeError:  # the client has stopped the stream
            self.ended = True
        self.transmit()

    async def flood(self, step):
        end = time.monotonic() + FLOOD_SECONDS
        while not self.ended and time.monotonic() < end:
            streams = self._quic._streams.values()
            if sum(len(it.sender._buffer) for it in streams) < WAITING_MAX:
                step()
            await asyncio.sleep(0)

    async def floods(self, stream, piece):
        await self.flood(lambda: self.says(stream, piece))


def endless_section(peer, stream):
    peer.says(stream, wire.varint(wire.HEADERS) + wire.varint(1 << 30))
    return peer.floods(stream, bytes(4_000))


def interims(peer, stream):
    return peer.floods(stream, EARLY * 50)


def unknown_frames(peer, stream):
    return peer.floods(stream, wire.frame(wire.GREASE) * 500)


def unknown_streams(peer, stream):
    at = [OTHER]

    def one():
        peer.says(at[0], wire.varint(wire.GREASE), True)
        at[0] += 4

    return peer.flood(one)


def goaways(peer, stream):
    return peer.floods(CONTROL, wire.number(wire.GOAWAY, 4) * 500)


def trailers(peer, stream):
    begun = wire.varint(wire.HEADERS) + wire.varint(1 << 30) + wire.PREFIX
    peer.says(stream, OK + wire.data(b"x") + begun)
    return peer.floods(stream, wire.literal("a", "b") * 500)


async def slow_body(peer, stream):
    peer.says(stream, OK)
    end = time.monotonic() + 2 * FLOOD_SECONDS
    while not peer.ended and time.monotonic() < end:
        peer.says(stream, wire.data(b"x"))
        await asyncio.sleep(0.1)


def no_answer(peer, stream):
    # Nor is anything of the request let in beyond the first windows.
    peer._quic._write_connection_limits = lambda **_: None
    peer._quic._write_stream_limits = lambda **_: None


def refused(peer, stream):
    peer._quic.reset_stream(stream, wire.H3_REQUEST_REJECTED)
    peer._quic.stop_stream(stream, wire.H3_REQUEST_REJECTED)
    peer.transmit()


def pushes(peer, stream):
    promise = wire.frame(wire.PUSH_PROMISE, b"\0" + wire.section(*wire.pseudo()))
    peer.says(stream, promise * 100)


def qpack_bomb(peer, stream):
    """One entry of almost the whole table, and an answer of 4,000 references to it."""
    value = wire.text("x" * 3_900)
    table = wire.integer(4096, 5, 0x20) + wire.text("a", 5, 0x40) + value
    peer.says(OTHER, wire.varint(wire.ENCODER) + table)
    fields = wire.literal(":status", "200") + b"\x80" * 4_000
    peer.says(stream, wire.frame(wire.HEADERS, b"\x02\x00" + fields), True)


def endless_encoder_stream(peer, stream):
    # An insertion of 1 GiB.
    begun = wire.text("a", 5, 0x40) + wire.integer(1 << 30, 7, 0)
    peer.says(OTHER, wire.varint(wire.ENCODER) + wire.integer(4096, 5, 0x20) + begun)
    return peer.floods(OTHER, bytes(4_000))


def alternatives(peer, stream):
    one = 'h3=":443"; ma=99999999999999999999, h3="\\":0";;;, h2="[::::]:1"; persist=9,'
    fields = ((":status", "200"), *[("alt-svc", one * 8)] * 80)
    peer.says(stream, wire.headers(*fields) + wire.data(b"ok"), True)


def endless(peer, stream):
    peer.says(stream, OK)
    return peer.floods(stream, wire.data(bytes(16_000)))


def _certificate():
    """A certificate that nothing believes, and its key, as files."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    day = datetime.timedelta(days=1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(pem), secret


async def main():
    Peer.attack = staticmethod(globals()[sys.argv[1]])
    configuration = QuicConfiguration(
        is_client=False, alpn_protocols=["h3"], verify_mode=ssl.CERT_NONE
    )
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/chain.pem", f"{folder}/key.pem"]
        for path, bytes in zip(paths, _certificate()):
            with open(path, "wb") as file:
                file.write(bytes)
        configuration.load_cert_chain(*paths)
    server = await serve("127.0.0.1", 0, configuration=configuration, create_protocol=Peer)
    print("127.0.0.1:%d" % server._transport.get_extra_info("sockname")[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


asyncio.run(main())
