use super::render;

const TABLE: &str = r#"
[entry]
words = 8
number = 1
serial = 2
position = 3
length = 4
[bound]
[control]
submitted = { word = 16, doc = "Written." }
[body]
put = { code = 2, doc = "Elsewhere." }
[submission_flag]
watched = { bit = 17, doc = "Watched." }
[response_flag]
[completion_flag]
[control_frame]
[http_version]
[handshake_failure]
[[submission]]
name = "take_up"
code = 6
doc = "Taken."
[submission.words]
bytes = { at = 2, doc = "How many." }
[[completion]]
name = "closed"
code = 20
doc = "Over."
[completion.words]
by_peer = { at = 5, doc = "1: yes." }
error_code = { at = 2, doc = "RFC 9113." }
"#;

#[test]
fn both_ends_have_the_same_numbers_in_the_spelling_of_their_language() {
    let [(_, rust), (_, script)] = &render(TABLE).unwrap()[..] else {
        panic!("there are two ends");
    };
    for expected in [
        "pub(crate) const SUBMITTED: usize = 16;",
        "pub(crate) const PUT: u32 = 2;",
        "pub(crate) const WATCHED: u32 = 1 << 17;",
        "pub(crate) const BYTES: usize = 2;",
        "fn closed(number: u32, error_code: u32, by_peer: u32) -> Entry",
        "[20, number, error_code, 0, 0, by_peer, 0, 0]",
    ] {
        assert!(rust.contains(expected), "{expected} is missing in\n{rust}");
    }
    for expected in [
        "Submitted = 16,",
        "Put = 2 << 8,",
        "Watched = 1 << 17,",
        "TakeUp = 6,",
        "ByPeer = 5,",
        "export function writeTakeUp (to: EntryWriter, flags: number, number: number, bytes: number): void",
        "to.entry(Submission.TakeUp | flags, number, bytes, 0, 0, 0, 0, 0)",
    ] {
        assert!(
            script.contains(expected),
            "{expected} is missing in\n{script}"
        );
    }
}

#[test]
fn a_code_that_stands_twice_is_refused() {
    let twice = format!("{TABLE}\n[[completion]]\nname = \"again\"\ncode = 20\ndoc = \"Twice.\"\n");
    let why = render(&twice).unwrap_err();
    assert_eq!(why, "completion: closed and again have one code");
}

#[test]
fn a_number_without_a_sentence_is_refused() {
    let bare = TABLE.replace(", doc = \"Watched.\"", "");
    assert!(render(&bare).unwrap_err().contains("`doc` is missing"));
}
