//! Windows as the simulator sees them: the promises of the table that `make windows` prints, on
//! bodies small enough for every run, and those about slow readers, tiny frames and PINGs.

use std::time::Duration;
use trunkline_core::limits::Windows;
use trunkline_testkit::sim::download::Download;
use trunkline_testkit::sim::download::seen::Seen;
use trunkline_testkit::sim::path::PathPlan;
use trunkline_testkit::sim::upload::Upload;
use trunkline_testkit::sim::windows::Policy;

const MIB: u64 = 1 << 20;

fn path(round_trip_ms: u64, bytes_per_second: u64) -> PathPlan {
    PathPlan::clean(Duration::from_millis(round_trip_ms), bytes_per_second)
}

fn download(path: PathPlan, policy: Policy, bytes: u64) -> Seen {
    Download::of(path, policy.windows(), bytes).run()
}

#[test]
fn windows_that_tune_themselves_fill_the_line() {
    for (round_trip_ms, rate) in [
        (1, 6_250_000),
        (20, 25_000_000),
        (100, 25_000_000),
        (230, 6_250_000),
    ] {
        let seen = download(path(round_trip_ms, rate), Policy::Auto, 64 * MIB);
        let speed = seen.speed_between(32 * MIB, 64 * MIB);
        assert!(
            speed >= 0.95 * rate as f64,
            "{speed} of {rate} bytes/s over {round_trip_ms} ms"
        );
        let under_way = rate * round_trip_ms / 1000;
        // Four times, so that slow start over real sockets is not held up, and a step of growth.
        assert!(
            u64::from(seen.window) <= (5 * under_way).max(256 * 1024),
            "a window of {} for {under_way} bytes under way",
            seen.window
        );
    }
}

#[test]
fn a_fixed_window_gives_what_arithmetic_says() {
    for policy in [
        Policy::Fixed(256 * 1024),
        Policy::Threshold(4 << 20, 160_000),
    ] {
        let (round_trip_ms, rate) = (100, 25_000_000);
        let seen = download(path(round_trip_ms, rate), policy, 64 * MIB);
        let speed = seen.speed_between(32 * MIB, 64 * MIB);
        let bound = policy.bound(Duration::from_millis(round_trip_ms), rate);
        assert!(
            (0.80..=1.05).contains(&(speed / bound)),
            "{}: {speed} of {bound} bytes/s",
            policy.name()
        );
    }
}

/// Data held back by a loss arrives at once, and each quantum of it looks like a full window in no
/// time: one round trip's bytes bound the growth.
#[test]
fn bursts_behind_losses_widen_the_window_to_a_few_times_what_the_path_holds() {
    let mut path = path(50, 10_000_000);
    path.loss_per_mille = 5;
    for seed in 0..4 {
        let run = |policy: Policy| {
            let download = Download::of(path, policy.windows(), 32 * MIB);
            Download { seed, ..download }.run()
        };
        let (auto, wide) = (run(Policy::Auto), run(Policy::Fixed(16 << 20)));
        let window = u64::from(auto.window);
        assert!(
            window <= 5 * path.bytes_under_way(),
            "seed {seed}: a window of {window}"
        );
        let [auto, wide] = [auto, wide].map(|seen| seen.marks[&(32 * MIB)].as_secs_f64());
        assert!(
            auto <= 1.1 * wide,
            "seed {seed}: {auto} s, {wide} s with a window that is never full"
        );
    }
}

#[test]
fn a_body_on_a_warm_connection_is_as_fast_as_with_a_window_of_four_megabytes() {
    for (round_trip_ms, rate) in [
        (100, 125_000_000),
        (100, 25_000_000),
        (20, 125_000_000),
        (20, 25_000_000),
    ] {
        let warm = |policy: Policy| {
            Download {
                warm_up_bytes: 64 * MIB,
                ..Download::of(path(round_trip_ms, rate), policy.windows(), 4 * MIB)
            }
            .run()
        };
        let (auto, wide) = (warm(Policy::Auto), warm(Policy::Fixed(4 << 20)));
        let [auto, wide] = [auto, wide].map(|seen| seen.marks[&(4 * MIB)].as_secs_f64());
        assert!(
            auto <= 1.02 * wide,
            "{auto} s over {round_trip_ms} ms, {wide} s with 4 MiB"
        );
    }
}

/// Both kernels remember the path, and so do we: only the window could hold the body up.
#[test]
fn the_first_body_of_a_second_connection_is_as_fast_as_one_on_a_warm_one() {
    for (round_trip_ms, rate) in [(100, 125_000_000), (100, 25_000_000), (20, 125_000_000)] {
        let path = path(round_trip_ms, rate);
        let first = download(path, Policy::Auto, 64 * MIB);
        let second = |policy: Policy, bdp_bytes| {
            let second = Download {
                bdp_bytes,
                sender_is_open: true,
                ..Download::of(path, policy.windows(), 4 * MIB)
            };
            second.run().marks[&(4 * MIB)].as_secs_f64()
        };
        let wide = second(Policy::Fixed(16 << 20), 0);
        let auto = second(Policy::Auto, first.bdp_bytes);
        let unknown = second(Policy::Auto, 0);
        assert!(
            auto <= 1.02 * wide,
            "{auto} s over {round_trip_ms} ms, {wide} s with 16 MiB"
        );
        assert!(
            unknown > 1.2 * auto,
            "{unknown} s over {round_trip_ms} ms without a memory, {auto} s with one"
        );
    }
}

#[test]
fn a_hundred_slow_readers_do_not_hold_a_fast_one_back() {
    let rate = 16_000_000;
    let slow = 20_000;
    let mut readers = vec![Some(slow); 100];
    readers.push(None);
    let windows = Windows::default();
    let budget = windows.memory_budget + 101 * u64::from(windows.stream_initial);
    let seen = Download {
        readers,
        time: Duration::from_secs(9),
        ..Download::of(path(100, rate), windows, 1 << 40)
    }
    .run();
    let speed = seen.speed_between(32 * MIB, 64 * MIB);
    let left = (rate - 100 * slow) as f64;
    assert!(
        speed >= 0.9 * left,
        "the fast one gets {speed} of {left} bytes/s"
    );
    assert!(
        seen.unread_max <= budget,
        "{} bytes unread",
        seen.unread_max
    );
    let least = seen.read.iter().min().copied().unwrap_or(0);
    assert!(least > 0, "a slow reader got nothing");
}

#[test]
fn bytes_one_by_one_cost_one_update_per_quantum() {
    let seen = Download {
        one_byte: true,
        time: Duration::from_secs(4),
        ..Download::of(path(20, 2_000_000), Windows::default(), 1 << 40)
    }
    .run();
    assert!(
        seen.data_bytes > 300_000,
        "only {} bytes came",
        seen.data_bytes
    );
    assert_eq!(seen.data_frames, seen.data_bytes, "one byte per frame");
    // One for the connection in the preface; the stream's and the connection's are due by 16 KiB.
    let updates_max = 2 * (seen.data_bytes / (16 * 1024) + 1) + 1;
    assert!(
        seen.window_updates <= updates_max,
        "{} updates for {} bytes",
        seen.window_updates,
        seen.data_bytes
    );
}

#[test]
fn a_minute_of_downloading_needs_no_ping() {
    let seen = Download {
        time: Duration::from_secs(60),
        ..Download::of(path(100, 1_000_000), Windows::default(), 1 << 40)
    }
    .run();
    assert!(
        seen.data_bytes > 50_000_000,
        "only {} bytes came",
        seen.data_bytes
    );
    assert_eq!(seen.pings, 0);
}

/// Two hundred uploads share a line on which each of them gets a piece in 2.6 s, and all of them
/// take a multiple of the server's patience with any.
#[test]
fn many_uploads_over_a_slow_line_all_arrive() {
    for (bytes, announced) in [(256 * 1024, true), (256 * 1024, false), (70_000, true)] {
        let upload = Upload {
            path: path(50, 1_250_000),
            count: 200,
            bytes,
            announced,
            patience: Duration::from_secs(5),
        };
        let seen = upload.run();
        assert_eq!((seen.complete, seen.resets), (200, 0), "{bytes} bytes each");
        assert!(seen.lasted >= 2 * upload.patience, "{:?}", seen.lasted);
        // One for the length that the head tells, or one per quantum of 16 KiB; the connection's
        // quantum is 1 MiB, a quarter of it beside other frames.
        let each = if announced { 1 } else { bytes / (16 * 1024) };
        for (&stream, &updates) in &seen.updates {
            let most = match stream {
                0 => 1 + 200 * bytes / (256 * 1024),
                _ => each,
            };
            assert!(updates <= most, "{updates} updates on stream {stream}");
        }
    }
}
