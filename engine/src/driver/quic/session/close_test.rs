//! The end of a connection: the bytes that came before it are read, and where the congestion window is full its code still
//! reaches the peer.

use super::*;
use trunkline_core::error::H2Code;

/// Both sides, each with a body on its way to the other.
fn sending(side: Side) -> Scene {
    let mut scene = Scene::new(Windows::default());
    scene.connect();
    match side {
        Side::Server => {
            scene.open(true);
        }
        Side::Client => {
            scene.answers_nothing = true;
            let mut fields = Fields::new();
            fields.push(Token::METHOD, b"POST");
            fields.push(Token::SCHEME, b"https");
            fields.push(Token::AUTHORITY, b"localhost");
            fields.push(Token::PATH, b"/");
            let head = RequestHead::from_fields(fields, Version::Http3).unwrap();
            let machine = &mut scene.client.machine;
            let stream = machine.open(scene.now, &head, false).unwrap();
            let body = Bytes::from(vec![0; MIB as usize]);
            machine.send_body(scene.now, stream, body, true).unwrap();
        }
    }
    scene
}

#[test]
fn a_connection_closed_under_a_full_congestion_window_says_so_at_once() {
    for side in [Side::Client, Side::Server] {
        // From the first flight to a window that carries all of the line.
        for after in (0..600).step_by(10).map(Duration::from_millis) {
            let mut scene = sending(side);
            scene.run_for(after);
            let now = scene.now;
            let closing = match side {
                Side::Client => &mut scene.client.machine,
                Side::Server => &mut scene.server.machine,
            };
            closing.abort(now, H2Code::CANCEL);
            scene.run_until(|scene| {
                let received = match side {
                    Side::Client => &scene.server.machine,
                    Side::Server => &scene.client.machine,
                };
                received.is_closed()
            });
            // The rest of the handshake, and one way.
            let took = scene.now - now;
            assert!(took <= 3 * ONE_WAY, "{side:?}, {after:?}: {took:?}");
        }
    }
}

#[test]
fn a_client_that_closes_on_a_slow_path_is_done_after_a_second() {
    let mut scene = Scene::new(Windows::default());
    for end in [&mut scene.client, &mut scene.server] {
        end.one_way = Duration::from_secs(2);
    }
    scene.connect();
    // The peer gets no packet of it, and does not close too.
    scene.server.loses = u64::MAX;
    scene.client.machine.abort(scene.now, H2Code::CANCEL);
    let is_done = |scene: &Scene| {
        let (_, session) = scene.client.connection.as_ref().unwrap();
        session.is_done(scene.now)
    };
    scene.run_for(Duration::from_millis(900));
    assert!(!is_done(&scene), "it answers late packets");
    scene.run_for(Duration::from_millis(200));
    assert!(is_done(&scene));
}

#[test]
fn a_server_gets_all_that_a_client_has_sent_before_it_closes() {
    let mut scene = sending(Side::Client);
    scene.run_for(Duration::from_secs(3));
    assert!(scene.uploaded < MIB, "none of it is read");
    scene.client.machine.abort(scene.now, H2Code::NO_ERROR);
    scene.run_until(|scene| scene.server.machine.is_closed());
    assert_eq!(scene.uploaded, MIB);
}
