//! A path that fails silently in the middle of a download: the client pings, migrates and pings
//! again, until the download continues.

use super::*;
use trunkline_core::pool::{Health, HealthAction, HealthTimes};

/// How the client goes on.
#[derive(Clone, Copy, Debug)]
struct Move {
    /// One way, before and after.
    one_way: [Duration; 2],
    /// Its host is another too, and not just its port.
    other_host: bool,
    /// Packets that come to the client and to the server and are lost, after it has moved.
    lost: [u64; 2],
}

/// Where clients are before and after they move.
fn address(moves: u16, other_host: bool) -> SocketAddr {
    let host = match other_host {
        true => 1 + moves as u8,
        false => 1,
    };
    ([127, 0, 0, host], 100 + moves).into()
}

/// The longest silence of a download over a path that dies in its middle, after the move.
fn silence_after(how: Move) -> Duration {
    let mut scene = Scene::new(Windows::default());
    scene.client.address = address(0, how.other_host);
    for end in [&mut scene.client, &mut scene.server] {
        end.one_way = how.one_way[0];
    }
    scene.connect();
    let stream = scene.open(true);
    scene.time_of(stream, 4 * MIB);
    // Packets in flight are lost, and the old address is unreachable.
    scene.client.coming.clear();
    scene.server.coming.clear();
    scene.client.address = address(1, how.other_host);
    scene.server.loses = u64::MAX;
    let times = HealthTimes::default();
    let mut health = Health::new(scene.now);
    let mut moved_at = None;
    let mut read = scene.read[&stream].unwrap();
    loop {
        let received = scene.client.received;
        let rtt = scene.client.connection.as_ref().unwrap().1.quic.rtt();
        scene.alarm = health.next_deadline(&times, Some(rtt), true);
        let alarm = scene.alarm.unwrap();
        scene.run_until(|scene| scene.now >= alarm || scene.client.received > received);
        if scene.client.received > received {
            health.handle_bytes(scene.now);
        }
        let got = scene.read[&stream].unwrap();
        if let Some(at) = moved_at
            && got > read
        {
            return scene.now - at;
        }
        if moved_at.is_none() {
            read = got;
        }
        if scene.now < alarm {
            continue;
        }
        let client = &mut scene.client;
        let session = &mut client.connection.as_mut().unwrap().1;
        match health.handle_timeout(scene.now, &times, Some(rtt), true) {
            HealthAction::Nothing | HealthAction::Replace => {}
            HealthAction::Ping => session.ask(&mut client.machine),
            HealthAction::ChangePath => {
                session.change_path(&mut client.machine);
                moved_at.get_or_insert(scene.now);
                scene.server.loses = how.lost[1];
                scene.client.loses = how.lost[0];
                for end in [&mut scene.client, &mut scene.server] {
                    end.one_way = how.one_way[1];
                }
            }
            HealthAction::Close => panic!("{how:?}: it was given up"),
        }
    }
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

#[test]
fn a_download_goes_on_after_its_path_died_whatever_is_lost_of_the_first_packets() {
    let mut worst = (Duration::ZERO, None);
    for one_way in [[1, 1], [10, 10], [10, 100], [1, 300], [100, 10]] {
        for other_host in [false, true] {
            for lost in [[0, 0], [1, 0], [3, 0], [0, 2], [2, 2]] {
                let how = Move {
                    one_way: one_way.map(ms),
                    other_host,
                    lost,
                };
                let silence = silence_after(how);
                if silence > worst.0 {
                    worst = (silence, Some(how));
                }
            }
        }
    }
    let (silence, how) = worst;
    assert!(silence < Duration::from_secs(5), "{silence:?} {how:?}");
}
