"""Runs the cases: `run.py PORT`, or of them only those whose name holds all words of
TRUNKLINE_CASES.

A case is a function of an `rfc*.py` file; its argument opens a connection to the server. One line
per case, `ok` or `not ok` with the reason, then a line that counts."""

import importlib
import os
import pathlib
import sys
import time

from peer import Peer


def cases():
    here = pathlib.Path(__file__).parent
    for path in sorted(here.glob("rfc*.py")):
        module = importlib.import_module(path.stem)
        for name, case in vars(module).items():
            if callable(case) and getattr(case, "__module__", "") == path.stem and name[0] != "_":
                yield f"{path.stem}.{name}", case


def run(case, port):
    """None, or why it failed."""
    peers = []

    def server(*args, **settings):
        peer = Peer.__new__(Peer)
        peers.append(peer)
        peer.__init__(port, *args, **settings)
        return peer

    try:
        case(server)
    except Exception as why:  # a case that cannot go on has failed
        return f"{type(why).__name__}: {why}"
    finally:
        for peer in peers:
            if hasattr(peer, "records"):
                peer.hangs_up()
    return None


def main():
    port, words = int(sys.argv[1]), os.environ.get("TRUNKLINE_CASES", "").split()
    chosen = [(name, case) for name, case in cases() if all(word in name for word in words)]
    failed = 0
    for name, case in chosen:
        begin = time.monotonic()
        why = run(case, port)
        failed += why is not None
        took = time.monotonic() - begin
        print(f"ok {name} ({took:.2f} s)" if why is None else f"not ok {name}: {why}", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)}")
    sys.exit(1 if failed or not chosen else 0)


main()
