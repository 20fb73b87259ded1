use super::*;
use crate::http::head::last_head::LastHead;
use crate::http::{Token, Version};

fn section(path: &str) -> Fields {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, b"GET");
    fields.push(Token::SCHEME, b"https");
    fields.push(Token::AUTHORITY, b"example.com");
    fields.push(Token::PATH, path.as_bytes());
    fields
}

fn head(path: &str) -> RequestHead {
    RequestHead::from_fields(section(path), Version::Http2).expect("a valid head")
}

#[test]
fn memory_comes_back_empty_and_no_more_of_it_than_is_kept() {
    let mut free_list = FreeList::default();
    assert!(free_list.section().is_empty());
    assert!(free_list.head().is_none());
    for _ in 0..3 {
        free_list.keep_section(section("/"), 2);
        free_list.keep_head(head("/"), 2);
    }
    for what in ["a section's", "a section's", "a head's"] {
        let fields = free_list.section();
        assert!(fields.is_empty(), "{what}");
        assert!(fields.arena_capacity() > 0, "{what}");
    }
    assert!(free_list.head().is_some());
    assert!(free_list.head().is_some());
    assert!(free_list.head().is_none(), "two were kept");
}

#[test]
fn a_head_that_gave_its_fields_away_becomes_another() {
    let mut free_list = FreeList::default();
    free_list.keep_head(head("/one"), 1);
    let mut fields = free_list.section();
    fields.copy_from(&section("/two"));
    let two = RequestHead::received_in(free_list.head(), fields, Version::Http2, true);
    let two = two.expect("a valid head");
    assert_eq!(two.path(), Some(&b"/two"[..]));
    assert_eq!((two.number(), two.fields_number()), (None, None));
}

#[test]
fn a_head_that_comes_again_takes_the_place_of_itself_and_of_another() {
    let mut last = LastHead::default();
    let mut free_list = FreeList::default();
    let mut again = |bytes: &[u8], path: &str, free_list: &mut FreeList| {
        if last.find(bytes, 0).is_none() {
            while !last.is_due() {}
            last.keep(bytes, 0, &head(path), Version::Http2);
        }
        let known = last.find(bytes, 0).expect("it is kept");
        let head = known.again(free_list.head());
        assert_eq!(head.section(), &section(path));
        assert!(head.number().is_some());
        free_list.keep_head(head, 1);
    };
    for (bytes, path) in [(b"one", "/one"), (b"one", "/one"), (b"two", "/two")] {
        again(bytes, path, &mut free_list);
    }
    // Its fields went to a section that turned out to be something else.
    drop(free_list.section());
    again(b"two", "/two", &mut free_list);
    again(b"one", "/one", &mut free_list);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "a head of another connection")]
fn the_head_of_another_connection_is_no_memory_of_this() {
    let kept = |path: &str| {
        let mut last = LastHead::default();
        last.keep(b"block", 0, &head(path), Version::Http2);
        last
    };
    let (mut mine, mut other) = (kept("/mine"), kept("/other"));
    let foreign = other.find(b"block", 0).expect("it is kept").again(None);
    let known = mine.find(b"block", 0).expect("it is kept");
    known.again(Some(foreign));
}
