use super::super::{ErrorKind, Fault, Retry};
use super::*;

fn failed(text: &str) -> Error {
    Error::new(ErrorKind::Timeout, Fault::Peer, Retry::Safe).with_text(text)
}

#[test]
fn nothing_is_kept_or_numbered_before_a_page_asks_for_it() {
    let timelines = Timelines::default();
    let error = timelines.note(failed("late"));
    assert_eq!((error.timeline_id(), timelines.list()), (None, Vec::new()));
    assert_eq!(error.to_string(), "late");
}

#[test]
fn a_kept_timeline_is_found_by_the_number_in_the_text_of_its_error() {
    let timelines = Timelines::default();
    timelines.keep();
    let error = timelines.note(failed("late"));
    let id = error.timeline_id().expect("a number");
    assert_eq!(error.to_string(), format!("late (timeline {id})"));
    let kept = timelines.list();
    assert_eq!((kept.len(), kept[0].id), (1, id));
    assert_eq!(kept[0].text, error.timeline());
    assert!(kept[0].text.starts_with("It failed: late (timeline "));
    assert_ne!(timelines.note(failed("later")).timeline_id(), Some(id));
}

#[test]
fn the_last_timelines_are_kept_and_each_is_bounded() {
    let timelines = Timelines::default();
    timelines.keep();
    // Two bytes a letter: a cut may fall within one.
    for length in 0..=TIMELINES_MAX {
        let text = format!(
            "{}{}",
            "x".repeat(length),
            "\u{e9}".repeat(TIMELINE_BYTES_MAX)
        );
        let _ = timelines.note(failed(&text));
    }
    let kept = timelines.list();
    assert_eq!(kept.len(), TIMELINES_MAX);
    assert!(
        kept[0].text.starts_with("It failed: x\u{e9}"),
        "{}",
        kept[0].text
    );
    for timeline in &kept {
        assert!(timeline.text.len() <= TIMELINE_BYTES_MAX);
        assert!(timeline.text.ends_with(".."));
    }
}
