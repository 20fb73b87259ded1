"""RFC 9114 sections 4.3 and 4.3.1: pseudo-fields come first, once, are known, and are all there."""

import wire


def _is_malformed(server, *fields):
    peer = server()
    peer.must_refuse(peer.asks(wire.headers(*fields)))


def an_unknown_pseudo_field_is_malformed(server):
    _is_malformed(server, *wire.pseudo(), (":unknown", "1"))


def a_pseudo_field_of_responses_is_malformed(server):
    _is_malformed(server, *wire.pseudo(), (":status", "200"))


def a_pseudo_field_behind_a_field_is_malformed(server):
    fields = wire.pseudo()
    _is_malformed(server, *fields[:3], ("x", "y"), fields[3])


def a_pseudo_field_that_comes_twice_is_malformed(server):
    for field in wire.pseudo():
        _is_malformed(server, *wire.pseudo(), field)


def a_request_without_method_scheme_or_path_is_malformed(server):
    for name in ("method", "scheme", "path"):
        _is_malformed(server, *wire.pseudo(**{name: None}))


def an_empty_path_is_malformed(server):
    _is_malformed(server, *wire.pseudo(path=""))


def a_request_without_authority_and_host_is_malformed(server):
    _is_malformed(server, *wire.pseudo(authority=None))


def an_empty_authority_or_host_is_malformed(server):
    _is_malformed(server, *wire.pseudo(authority=""))
    _is_malformed(server, *wire.pseudo(authority=None), ("host", ""))


def host_alone_is_enough(server):
    peer = server()
    fields = wire.pseudo(authority=None) + (("host", "localhost"),)
    peer.must_answer(peer.asks(wire.headers(*fields)))


def authority_and_host_that_differ_are_malformed(server):
    _is_malformed(server, *wire.pseudo(), ("host", "other.example"))


def an_authority_with_user_information_is_malformed(server):
    _is_malformed(server, *wire.pseudo(authority="user:password@localhost"))


def a_method_or_scheme_that_is_none_is_malformed(server):
    _is_malformed(server, *wire.pseudo(method="GE T"))
    _is_malformed(server, *wire.pseudo(scheme="ht tp"))


def a_path_with_space_or_control_characters_is_malformed(server):
    for path in ("/a b", "/\0", "/a\r\nb", "nowhere"):
        _is_malformed(server, *wire.pseudo(path=path))


def options_may_ask_for_the_server_itself(server):
    peer = server()
    fields = wire.pseudo(method="OPTIONS", path="*")
    peer.must_answer(peer.asks(wire.headers(*fields)))


def pseudo_fields_in_trailers_are_malformed(server):
    peer = server()
    stream = peer.asks(wire.post("/count") + wire.headers((":path", "/")))
    peer.must_refuse(stream)
