use super::*;
use crate::driver::signals::Signals;

#[test]
fn a_connection_that_never_answers_keeps_the_last_requests_alone() {
    let signals = Signals::default();
    let (reply, replies) = mpsc::unbounded_channel();
    for number in 0..20 {
        signals.inspect(Inspection {
            number,
            streams_max: 1,
            reply: reply.clone(),
        });
    }
    let mut notes = None;
    signals.begin_turn(&mut notes);
    let kept = notes.map_or_else(Vec::new, |notes| notes.inspections);
    let kept: Vec<_> = kept.iter().map(|kept| kept.number).collect();
    assert_eq!(kept, (12..20).collect::<Vec<_>>());
    assert_eq!(kept.len(), INSPECTIONS_MAX);
    drop(replies);
}

#[test]
fn a_long_target_is_listed_in_part() {
    assert_eq!(&*listed_target(b"/a?b"), "/a?b");
    let long = listed_target(&[b'x'; 1000]);
    assert_eq!(long.len(), TARGET_BYTES_MAX + 2);
    assert!(long.ends_with("x.."));
    assert_eq!(&*listed_target(b"/\xff"), "/\u{fffd}");
}
