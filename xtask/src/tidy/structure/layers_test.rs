use super::{check_crates, check_modules};
use crate::tidy::rust::parse;
use crate::tidy::tree::Tree;

fn module_findings(path: &str, text: &str) -> usize {
    let (sources, broken) = parse(&Tree::of(&[(path, text)]));
    assert!(broken.is_empty(), "{broken:?}");
    check_modules(&sources).len()
}

#[test]
fn siblings_and_upward_imports_are_found_however_they_are_written() {
    for text in [
        "use crate::h2::Conn;",
        "use crate::{http::Fields, h2::Conn};",
        "fn f() -> crate::pool::Gate { todo!() }",
        "use super::super::h2::stream;",
        "mod part { use super::super::super::h2; }",
    ] {
        assert_eq!(module_findings("core/src/h1/conn.rs", text), 1, "{text}");
    }
    assert_eq!(
        module_findings("core/src/http/head.rs", "use crate::hpack::Decoder;"),
        1
    );
    assert_eq!(
        module_findings("core/src/pool/connection/gate.rs", "use crate::h2::Conn;"),
        1
    );
}

#[test]
fn downward_imports_and_tests_are_free() {
    assert_eq!(
        module_findings(
            "core/src/h2/conn.rs",
            "use crate::{hpack::Decoder, http::Head}; use super::frame::Data;"
        ),
        0
    );
    assert_eq!(
        module_findings("core/src/h1/conn_test.rs", "use crate::h2::Conn;"),
        0
    );
    assert_eq!(
        module_findings(
            "core/src/h1/conn.rs",
            "#[cfg(test)] mod t { use crate::h2::Conn; }"
        ),
        0
    );
}

#[test]
fn a_core_module_without_a_row_is_found() {
    assert_eq!(module_findings("core/src/magic.rs", ""), 1);
}

#[test]
fn the_channel_of_the_addon_imports_nothing_above_it() {
    let path = "node/native/channel/shared.rs";
    assert_eq!(module_findings(path, "use crate::client::Clients;"), 1);
    assert_eq!(module_findings(path, "use crate::platform::uv::Bell;"), 0);
    let path = "node/native/engine/inline.rs";
    assert_eq!(module_findings(path, "use crate::environment::open;"), 1);
}

#[test]
fn the_core_may_not_depend_on_a_runtime_and_no_crate_upward() {
    let manifest = "[dependencies]\ntokio.workspace = true\nbytes = \"1\"";
    let found = check_crates(&Tree::of(&[("core/Cargo.toml", manifest)]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].text.contains("tokio"));
    let upward = "[dependencies]\ntrunkline-cli = \"1\"\ntokio = \"1\"";
    assert_eq!(
        check_crates(&Tree::of(&[("engine/Cargo.toml", upward)])).len(),
        1
    );
    let in_tests = "[dev-dependencies]\ntrunkline-testkit = \"1\"";
    assert_eq!(
        check_crates(&Tree::of(&[("core/Cargo.toml", in_tests)])),
        vec![]
    );
}
