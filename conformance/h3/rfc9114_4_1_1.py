"""RFC 9114 section 4.1.1: either side may give a request up; that ends this request alone."""

import wire


def a_client_that_resets_its_request_gives_it_up(server):
    peer = server()
    stream = peer.asks(wire.post("/never") + wire.data(b"x"), fin=False)
    peer.resets(stream)
    peer.must_reset(stream, wire.H3_REQUEST_CANCELLED, wire.H3_REQUEST_REJECTED)


def a_reset_is_heard_though_nobody_reads_the_body(server):
    peer = server()
    stream = peer.asks(wire.post("/never") + wire.data(b"x" * 300_000), fin=False)
    peer.must_live()
    peer.resets(stream)
    peer.must_reset(stream, wire.H3_REQUEST_CANCELLED, wire.H3_REQUEST_REJECTED)


def a_client_that_stops_the_answer_gives_it_up(server):
    peer = server()
    stream = peer.asks(wire.get("/never"))
    peer.until(lambda: peer.record(stream).data, "the start of an answer")
    peer.stops(stream)
    peer.must_reset(stream, wire.H3_REQUEST_CANCELLED, wire.H3_REQUEST_REJECTED)


def an_unknown_code_of_a_reset_means_no_error(server):
    # Section 8.1 and section 9.
    peer = server()
    stream = peer.asks(wire.post("/never"), fin=False)
    peer.resets(stream, wire.GREASE)
    peer.must_live()


def a_rejected_code_from_a_client_ends_the_request_alone(server):
    peer = server()
    stream = peer.asks(wire.post("/never"), fin=False)
    peer.resets(stream, wire.H3_REQUEST_REJECTED)
    peer.must_live()


def two_hundred_requests_given_up_leave_the_connection_usable(server):
    # Each gives its stream credit back; a burst of this size is within the budget of resets.
    peer = server()
    for _ in range(6):
        streams = [peer.asks(wire.post("/never"), fin=False) for _ in range(30)]
        for stream in streams:
            peer.resets(stream)
        peer.until(lambda: all(peer.record(of).reset is not None for of in streams), "30 resets")
    peer.must_live()
