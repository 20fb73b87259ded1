use super::*;
use quinn_proto::congestion::CubicConfig;

const MS: Duration = Duration::from_millis(1);

fn controller() -> (UntilClosed, Lateness) {
    let factory = Arc::new(UntilClosedFactory(Arc::new(CubicConfig::default())));
    let made = factory.build(Instant::now(), 1200);
    let lateness = Lateness::of(&*made);
    let made = made.into_any().downcast::<UntilClosed>();
    (*made.expect("this file made it"), lateness)
}

#[test]
fn a_steady_path_is_not_late_whatever_delay_its_acknowledgements_may_have() {
    let (mut made, lateness) = controller();
    for extra in 0..100 {
        made.note_round_trip(300 * MS, 300 * MS + MS * (extra % 26));
        assert_eq!(lateness.mean(), Duration::ZERO);
    }
}

#[test]
fn samples_above_the_smoothed_round_trip_count_once_each_and_are_forgotten() {
    let (mut made, lateness) = controller();
    for _ in 0..9 {
        made.note_round_trip(100 * MS, 525 * MS);
    }
    assert_eq!(lateness.mean(), 100 * MS, "one frame with nine packets");
    for sample in 0..60_u32 {
        made.note_round_trip(100 * MS + MS * (sample % 2), 526 * MS);
    }
    assert!(lateness.mean() > 390 * MS, "{lateness:?}");
    for sample in 0..60_u32 {
        made.note_round_trip(100 * MS + MS * (sample % 2), 101 * MS);
    }
    assert_eq!(lateness.mean(), Duration::ZERO);
}

#[test]
fn a_copy_that_quinn_proto_makes_counts_to_the_same_mean() {
    let (made, lateness) = controller();
    let copy = made.clone_box().into_any().downcast::<UntilClosed>();
    let mut copy = copy.expect("a copy of its own kind");
    copy.note_round_trip(10 * MS, 135 * MS);
    assert_eq!(lateness.mean(), 25 * MS);
}
