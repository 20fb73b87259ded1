use super::{Path, PathSettings};
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

fn path(settings: PathSettings) -> Path {
    Path::new(settings, 7)
}

#[test]
fn without_settings_a_packet_arrives_at_once() {
    let now = Instant::now();
    assert_eq!(path(PathSettings::default()).enter(now, 1500, 1), Some(now));
}

#[test]
fn delay_moves_every_packet_alike() {
    let now = Instant::now();
    let mut path = path(PathSettings {
        delay: 50 * MS,
        ..PathSettings::default()
    });
    assert_eq!(path.enter(now, 1500, 1), Some(now + 50 * MS));
    assert_eq!(path.enter(now + MS, 64_000, 43), Some(now + 51 * MS));
}

#[test]
fn rate_spaces_packets_by_their_bytes() {
    let now = Instant::now();
    // 1 Mbit/s: 125 bytes take 1 ms.
    let mut path = path(PathSettings {
        delay: 10 * MS,
        rate: Some(1_000_000),
        ..PathSettings::default()
    });
    assert_eq!(path.enter(now, 125, 1), Some(now + 11 * MS));
    assert_eq!(
        path.enter(now, 250, 1),
        Some(now + 13 * MS),
        "behind the first"
    );
    assert_eq!(
        path.enter(now + 50 * MS, 125, 1),
        Some(now + 61 * MS),
        "an idle wire saves nothing up"
    );
}

#[test]
fn a_full_queue_drops_and_takes_again_when_it_has_drained() {
    let now = Instant::now();
    let mut path = path(PathSettings {
        rate: Some(1_000_000),
        queue_bytes: Some(1000),
        ..PathSettings::default()
    });
    for _ in 0..8 {
        assert!(path.enter(now, 125, 1).is_some());
    }
    assert_eq!(path.enter(now, 125, 1), None, "1,000 bytes wait");
    assert!(path.enter(now + MS, 125, 1).is_some(), "one has left");
    assert_eq!(path.totals().dropped, 1);
    assert_eq!(path.totals().packets, 9);
}

#[test]
fn a_packet_larger_than_the_queue_passes_an_empty_one() {
    let now = Instant::now();
    let mut path = path(PathSettings {
        rate: Some(8_000_000),
        queue_bytes: Some(1000),
        ..PathSettings::default()
    });
    assert_eq!(path.enter(now, 64_000, 43), Some(now + 64 * MS));
    assert_eq!(path.enter(now, 1, 1), None);
}

#[test]
fn chance_follows_the_share_and_the_seed() {
    let now = Instant::now();
    let settings = PathSettings {
        loss: 0.1,
        reorder: 0.2,
        ..PathSettings::default()
    };
    let run = |seed| {
        let mut path = Path::new(settings.clone(), seed);
        let fates: Vec<_> = (0..20_000).map(|_| path.enter(now, 100, 1)).collect();
        (fates, path.totals())
    };
    let (fates, totals) = run(3);
    assert!((1_800..2_200).contains(&totals.lost), "{totals:?}");
    assert!((3_300..3_900).contains(&totals.reordered), "{totals:?}");
    assert_eq!(totals.packets + totals.lost, 20_000);
    assert_eq!(run(3).0, fates, "the same seed, the same fate");
    assert_ne!(run(4).0, fates, "another seed, another fate");
}

#[test]
fn all_lost_is_a_black_hole() {
    let now = Instant::now();
    let mut path = path(PathSettings {
        loss: 1.0,
        ..PathSettings::default()
    });
    assert!((0..1000).all(|_| path.enter(now, 100, 1).is_none()));
}

#[test]
fn absurd_settings_are_refused_with_value_and_range() {
    let refused = |settings: PathSettings| settings.check().expect_err("absurd");
    let base = PathSettings::default;
    assert_eq!(
        refused(PathSettings {
            loss: 1.5,
            ..base()
        }),
        "loss is 1.5; it must be from 0 to 1"
    );
    assert_eq!(
        refused(PathSettings {
            reorder: f64::NAN,
            ..base()
        }),
        "reorder is NaN; it must be from 0 to 1"
    );
    assert_eq!(
        refused(PathSettings {
            delay: Duration::from_secs(61),
            ..base()
        }),
        "delay is 61s; it must be at most 60s"
    );
    assert_eq!(
        refused(PathSettings {
            rate: Some(0),
            ..base()
        }),
        "rate is 0 bit/s; it must be from 1000 to 100000000000"
    );
}
