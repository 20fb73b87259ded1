"""RFC 9297 section 2.1: HTTP datagrams. The setting is 0 or 1; a server that has not announced
datagrams takes none and comes to no harm by them."""

import wire


def a_setting_other_than_0_and_1_is_an_error(server):
    peer = server(said=None)
    peer.opens(wire.CONTROL, wire.settings((wire.H3_DATAGRAM, 2)))
    peer.must_close(wire.H3_SETTINGS_ERROR)


def the_setting_may_be_said_to_a_server_that_takes_none(server):
    peer = server(said=((wire.H3_DATAGRAM, 1),), max_datagram_frame_size=1200)
    peer.must_live()
