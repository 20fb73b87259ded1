use super::*;

#[test]
fn a_program_of_tests_is_named_by_its_package_and_no_other_artifact_is_one() {
    let line = r#"{"reason":"compiler-artifact","package_id":"x","manifest_path":"/a/engine/Cargo.toml","target":{"name":"all","test":true},"profile":{"opt_level":"0","test":true},"features":[],"executable":"/t/debug/deps/all-0123","fresh":true}"#;
    let program = program_of(line).expect("a program");
    assert_eq!(program.name, "engine-all");
    assert_eq!(program.executable, Path::new("/t/debug/deps/all-0123"));
    assert_eq!(program.package, Path::new("/a/engine"));
    assert_eq!(
        program_of(&line.replace(r#"0","test":true"#, r#"0","test":false"#)),
        None
    );
    let library = line.replace(r#""/t/debug/deps/all-0123""#, "null");
    assert_eq!(program_of(&library), None);
    assert_eq!(
        program_of(r#"{"reason":"build-finished","success":true}"#),
        None
    );
}

#[test]
fn failing_tests_of_rust_are_named_with_the_beginning_of_their_message() {
    let output = "running 2 tests\ntest a::one ... ok\ntest a::two ... FAILED\n\nfailures:\n\n\
        ---- a::two stdout ----\n\nthread 'a::two' panicked at engine/tests/a.rs:3:5:\nassertion failed\n\
        note: run with `RUST_BACKTRACE=1`\n\nfailures:\n    a::two\n";
    let text = "a::two\nthread 'a::two' panicked at engine/tests/a.rs:3:5:\nassertion failed\n";
    assert_eq!(failures(output), [text]);
}

#[test]
fn failing_tests_of_the_package_are_named_once_each_and_their_messages_are_cut() {
    let long = "x".repeat(2 * MESSAGE_MAX);
    let one = format!(
        "FAILED test/a.test.mjs: one\nAssertionError: no\n    at here\nFAILED test/a.test.mjs: two\n{long}\n"
    );
    let found = failures(&format!(
        "test/a.test.mjs: 3 passed\n{one}\n2 failed:\n{one}"
    ));
    assert_eq!(found.len(), 2);
    assert_eq!(
        found[0],
        "test/a.test.mjs: one\nAssertionError: no\nat here\n"
    );
    assert_eq!(
        found[1],
        format!("test/a.test.mjs: two\n{}", &long[..MESSAGE_MAX])
    );
    assert_eq!(failures("1 passed\n"), Vec::<String>::new());
}

#[test]
fn a_text_is_cut_between_its_characters() {
    assert_eq!((cut("äöü", 2), cut("äöü", 3)), ("äö", "äöü"));
    assert_eq!((tail("äöü", 2), tail("äöü", 4)), ("öü", "äöü"));
}
