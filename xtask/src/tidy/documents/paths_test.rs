use super::{MAP, check};
use crate::tidy::tree::Tree;

const MAP_HEAD: &str = "## How the pieces fit\n\n| folder | contents |\n|---|---|\n";

fn found(files: &[(&str, &str)]) -> Vec<String> {
    let found = check(&Tree::of(files));
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn a_path_that_does_not_exist_is_found_in_documents_and_comments() {
    let text = "Run `cargo test`, read `core/src/lib.rs`, `core/src/*.rs` and `core/gone.rs::name`; `text/html` is a type.\n";
    let found = found(&[
        (MAP, MAP_HEAD),
        ("CONTRIBUTING.md", text),
        ("CHANGELOG.md", "`core/old.rs`"),
        (
            "core/src/lib.rs",
            "//! As `core/src/lost.rs`.\nlet x = \"`core/no`\";\n",
        ),
    ]);
    assert_eq!(
        found,
        [
            "CONTRIBUTING.md:1: `core/gone.rs` does not exist",
            "core/src/lib.rs:1: `core/src/lost.rs` does not exist",
        ]
    );
}

#[test]
fn what_a_command_makes_may_be_named_before_it_is_there() {
    let files = [
        (MAP, MAP_HEAD),
        ("README.md", "`bench/out/a.csv`, `bench/out/`"),
        ("bench/a.rs", ""),
    ];
    assert!(found(&files).is_empty());
}

#[test]
fn a_row_of_the_map_names_files_of_its_folder() {
    let map = format!(
        "{MAP_HEAD}| `native/channel/` | `ring.rs`, the memory; `engine.rs` |\n| `native/gone/` | all |\n| `src/` | `index.ts` |\n"
    );
    let files = [
        (MAP, map.as_str()),
        ("node/native/channel/ring.rs", ""),
        ("node/src/index.ts", ""),
    ];
    assert_eq!(
        found(&files),
        [
            "node/ARCHITECTURE.md:5: `engine.rs` is no file of `native/channel/`",
            "node/ARCHITECTURE.md:6: `native/gone/` does not exist",
        ]
    );
}

#[test]
fn each_folder_of_the_sources_has_a_row_of_its_own_or_of_the_folder_above() {
    let map = format!("{MAP_HEAD}| `src/` | everything |\n| `src/fetch/` | fetch |\n");
    let files = [
        (MAP, map.as_str()),
        ("node/src/index.ts", ""),
        ("node/src/fetch/body/read.ts", ""),
        ("node/src/serve/serve.ts", ""),
        ("node/test/a.mjs", ""),
    ];
    assert_eq!(
        found(&files),
        ["node/ARCHITECTURE.md:0: the map has no row for `src/serve/`"]
    );
}
