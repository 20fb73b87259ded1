"""New keys (RFC 9001 section 6), when both sides may take them."""

from aioquic.tls import Epoch


async def new_keys(connection):
    """Takes new keys once a packet with those in use is acknowledged, as section 6.1 asks: the peer
    may have taken new ones a moment ago, and two steps at once are one that it cannot follow."""
    keys = connection._quic._cryptos[Epoch.ONE_RTT]
    while True:
        phase = keys.key_phase
        await connection.ping()
        if keys.key_phase == phase:
            break
    connection.request_key_update()
