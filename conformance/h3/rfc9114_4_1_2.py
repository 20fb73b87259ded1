"""RFC 9114 section 4.1.2: a malformed request is never served: a 4xx answer, or a stream error of
H3_MESSAGE_ERROR."""

import wire


def a_body_longer_than_content_length_is_malformed(server):
    peer = server()
    stream = peer.asks(wire.post("/echo", ("content-length", "2")) + wire.data(b"abc"))
    peer.must_refuse(stream)


def a_body_shorter_than_content_length_is_malformed(server):
    peer = server()
    stream = peer.asks(wire.post("/count", ("content-length", "4")) + wire.data(b"abc"))
    peer.must_refuse(stream)


def no_body_where_content_length_announces_one_is_malformed(server):
    peer = server()
    peer.must_refuse(peer.asks(wire.post("/count", ("content-length", "1"))))


def the_sum_of_all_data_frames_counts(server):
    peer = server()
    body = wire.data(b"ab") + wire.data(b"") + wire.data(b"c")
    stream = peer.asks(wire.post("/count", ("content-length", "3")) + body)
    peer.must_answer(stream, body=b"3")


def a_content_length_that_is_no_number_is_malformed(server):
    for value in ("-1", "1x", "", "1, 2"):
        peer = server()
        peer.must_refuse(peer.asks(wire.post("/count", ("content-length", value))))
