use super::{ADDRESS_TESTS, CORE_TESTS, LONG_TESTS, core_under_miri, sanitize};
use crate::root;

#[test]
fn an_unknown_part_is_refused_with_what_there_is() {
    let why = sanitize(&["nothing".into()]).expect_err("refused");
    assert!(why.contains("'nothing'") && why.contains("loom"), "{why}");
}

#[test]
fn the_tests_that_run_with_the_sanitizer_are_there() {
    for name in ADDRESS_TESTS {
        assert!(root().join("node/test").join(name).exists(), "{name}");
    }
}

#[test]
fn under_miri_run_the_tests_of_a_module_and_not_those_of_modules_within_it() {
    let command = core_under_miri();
    let filters: Vec<_> = command.get_args().skip_while(|it| *it != "--").collect();
    assert!(filters.contains(&"http::field::field_test::".as_ref()));
    assert_eq!(filters.len(), 1 + CORE_TESTS.len());
}

/// A filter of test names that matches none would pass in silence.
#[test]
fn the_modules_of_the_core_that_run_under_miri_have_tests() {
    for name in CORE_TESTS {
        let file = format!("core/src/{}_test.rs", name.replace("::", "/"));
        assert!(root().join(&file).exists(), "{name}: there is no {file}");
    }
}

/// A renamed test would run for hours.
#[test]
fn each_filter_of_long_tests_names_a_test_of_the_rings() {
    let files = [
        "node/native/channel/ring_test.rs",
        "node/native/channel/outbound_test.rs",
        "sanitize/src/ring_peer.rs",
    ];
    let read = |file| std::fs::read_to_string(root().join(file)).expect("the file is there");
    let text = files.map(read).concat();
    let names: Vec<&str> = text.lines().filter(|line| line.contains("fn ")).collect();
    for part in LONG_TESTS {
        let has = names.iter().any(|name| name.contains(part));
        assert!(has, "{part}: no test is named so");
    }
}
