//! A client that stops a response, and a server that writes it before it knows.

use super::*;
use trunkline_core::error::H2Code;

/// Streams that the server may still have to send on.
fn sending(scene: &mut Scene) -> usize {
    let (_, session) = scene.server.connection.as_mut().unwrap();
    session.quic.streams().send_streams()
}

#[test]
fn a_response_that_is_written_behind_an_unreported_stop_gives_its_stream_back() {
    for body in [&b"a"[..], b""] {
        let mut scene = Scene::new(Windows::default());
        scene.connect();
        scene.answers_nothing = true;
        let stream = scene.open(false);
        scene.run_for(2 * ONE_WAY);
        // A part of the response is under way.
        let head = ResponseHead::new(200, Fields::new(), Version::Http3).unwrap();
        let now = scene.now;
        let machine = &mut scene.server.machine;
        machine.respond(now, stream, &head, false).unwrap();
        scene.run_for(4 * ONE_WAY);
        let held = sending(&mut scene);
        scene
            .client
            .machine
            .reset(scene.now, stream, H2Code::CANCEL);
        let up = scene.client.turn(scene.now);
        scene.server.carry(scene.now, scene.client.address, up);
        scene.now += 2 * ONE_WAY;
        // The service has asked for a pause: QUIC goes on, and its events wait.
        scene.server.receive(scene.now);
        let End {
            machine,
            connection,
            ..
        } = &mut scene.server;
        let body = Bytes::from_static(body);
        machine.send_body(scene.now, stream, body, true).unwrap();
        let (_, session) = connection.as_mut().unwrap();
        session.carry_out_actions(machine, scene.now);
        scene.run_for(10 * ONE_WAY);
        assert_eq!(sending(&mut scene), held - 1);
        assert!(!scene.server.machine.is_closed());
    }
}
