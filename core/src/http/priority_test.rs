use super::*;

fn priority(urgency: u8, incremental: bool) -> Priority {
    Priority {
        urgency,
        incremental,
    }
}

#[test]
fn what_is_not_said_is_the_default() {
    for value in ["", " ", "a", "x=1, y=\"z\"", "u=3, i=?0"] {
        assert_eq!(
            Priority::parse(value.as_bytes()),
            priority(3, false),
            "{value}"
        );
    }
}

#[test]
fn urgency_and_incremental_are_read() {
    let rows = [
        ("u=0", priority(0, false)),
        ("u=7", priority(7, false)),
        ("i", priority(3, true)),
        ("u=5, i", priority(5, true)),
        ("i=?1,u=1", priority(1, true)),
        ("u=1;x=y, i;z", priority(1, true)),
        ("u=1, u=2", priority(2, false)),
        ("other=(1 2), u=4", priority(4, false)),
    ];
    for (value, expected) in rows {
        assert_eq!(Priority::parse(value.as_bytes()), expected, "{value}");
    }
}

#[test]
fn wrong_types_and_ranges_are_ignored_member_by_member() {
    let rows = [
        ("u=8, i", priority(3, true)),
        ("u=-1, i", priority(3, true)),
        ("u=1.0, i", priority(3, true)),
        ("u=\"1\"", priority(3, false)),
        ("u, i", priority(3, true)),
        ("u=1, i=1", priority(1, false)),
        ("u=1, u=\"2\"", priority(3, false)),
    ];
    for (value, expected) in rows {
        assert_eq!(Priority::parse(value.as_bytes()), expected, "{value}");
    }
}

#[test]
fn a_field_that_does_not_parse_is_ignored_whole() {
    for value in [
        "u=1,",
        "u=1 i",
        "u=1, =",
        "u=1, I",
        "U=1",
        "u=1, i=?2",
        "u=1\0",
        "u=1, x=\"",
    ] {
        assert_eq!(
            Priority::parse(value.as_bytes()),
            priority(3, false),
            "{value}"
        );
    }
}

#[test]
fn a_response_overrides_what_it_mentions() {
    let asked = priority(5, true);
    assert_eq!(asked.overridden_by(b"u=1"), priority(1, true));
    assert_eq!(asked.overridden_by(b"i=?0"), priority(5, false));
    assert_eq!(asked.overridden_by(b""), asked);
    assert_eq!(asked.overridden_by(b"u=1,"), asked);
}

#[test]
fn lower_urgency_goes_first() {
    assert!(priority(0, true) < priority(1, false));
    assert!(priority(3, false) < priority(3, true));
}
