//! Streams that wait for room in the connection, whose window for bytes without an acknowledgement is full: all of them go on.

use super::*;

const STREAMS: usize = 40;
const BYTES_PER_SECOND: u64 = 2_000_000;
const SECONDS: u64 = 20;

/// Bytes of each of `STREAMS` downloads that began at once, in the order in which they began.
fn bytes_of_each(lossy: bool) -> Vec<u64> {
    let mut scene = Scene::over(Windows::default(), Duration::from_millis(20));
    for end in [&mut scene.client, &mut scene.server] {
        end.bytes_per_second = BYTES_PER_SECOND;
    }
    scene.connect();
    if lossy {
        scene.client.loses_of = Some([1, 50]);
    }
    let streams: Vec<_> = (0..STREAMS).map(|_| scene.open(true)).collect();
    scene.run_for(Duration::from_secs(SECONDS));
    let read = |stream| scene.read[stream].unwrap();
    streams.iter().map(read).collect()
}

#[test]
fn streams_that_wait_for_room_in_the_connection_go_on_by_turns() {
    // Bytes behind one that is lost wait for it.
    for (lossy, share) in [(false, 2), (true, 8)] {
        let bytes = bytes_of_each(lossy);
        let mean = bytes.iter().sum::<u64>() / STREAMS as u64;
        let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
        assert!(
            *least >= mean / share && *most <= mean * share,
            "lossy: {lossy}, mean {mean}, each {bytes:?}"
        );
    }
}
