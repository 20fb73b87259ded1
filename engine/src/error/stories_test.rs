use super::super::{ErrorKind, Fault, Retry};
use super::*;

fn failed(text: &str) -> Error {
    Error::new(ErrorKind::Timeout, Fault::Peer, Retry::Safe).with_text(text)
}

#[test]
fn nothing_is_kept_or_numbered_before_a_page_asks_for_it() {
    let stories = Stories::default();
    let error = stories.note(failed("late"));
    assert_eq!((error.story_id(), stories.list()), (None, Vec::new()));
    assert_eq!(error.to_string(), "late");
}

#[test]
fn a_kept_story_is_found_by_the_number_in_the_text_of_its_error() {
    let stories = Stories::default();
    stories.keep();
    let error = stories.note(failed("late"));
    let id = error.story_id().expect("a number");
    assert_eq!(error.to_string(), format!("late (story {id})"));
    let kept = stories.list();
    assert_eq!((kept.len(), kept[0].id), (1, id));
    assert_eq!(kept[0].text, error.story());
    assert!(kept[0].text.starts_with("It failed: late (story "));
    assert_ne!(stories.note(failed("later")).story_id(), Some(id));
}

#[test]
fn the_last_stories_are_kept_and_each_is_bounded() {
    let stories = Stories::default();
    stories.keep();
    // Two bytes a letter: a cut may fall within one.
    for length in 0..=STORIES_MAX {
        let text = format!("{}{}", "x".repeat(length), "\u{e9}".repeat(STORY_BYTES_MAX));
        let _ = stories.note(failed(&text));
    }
    let kept = stories.list();
    assert_eq!(kept.len(), STORIES_MAX);
    assert!(
        kept[0].text.starts_with("It failed: x\u{e9}"),
        "{}",
        kept[0].text
    );
    for story in &kept {
        assert!(story.text.len() <= STORY_BYTES_MAX);
        assert!(story.text.ends_with(".."));
    }
}
