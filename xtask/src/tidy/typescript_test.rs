use super::{check, layers, parse};
use crate::tidy::Finding;
use crate::tidy::tree::Tree;

fn layered(files: &[(&str, &str)], rows: &[&str], mutual: &[(&[&str], &str)]) -> Vec<String> {
    let found = layers::check(&parse(&Tree::of(files)), rows, mutual);
    found.into_iter().map(|Finding { text, .. }| text).collect()
}

#[test]
fn an_import_of_a_layer_above_is_found_however_it_is_written() {
    for text in [
        "import { B } from '../high/b'",
        "import type { B } from '../high/b'",
        "import {\n  A,\n  B\n} from '../high/b'",
        "export * from '../high'",
        "const b = require('../high/b')",
        "type C = import('../high/b').B",
    ] {
        let files = [
            ("node/src/low/a.ts", text),
            ("node/src/high/b.ts", "export interface B {}"),
            ("node/src/high/index.ts", ""),
        ];
        let found = layered(&files, &["low", "high"], &[]);
        assert_eq!(
            found,
            ["`low` must not import `high`, a layer above it"],
            "{text}"
        );
        assert!(layered(&files, &["high", "low"], &[]).is_empty(), "{text}");
    }
}

#[test]
fn comments_and_packages_are_no_imports() {
    let text = "// as require('../high/b')\nimport fs from 'high/b'";
    let files = [("node/src/low/a.ts", text), ("node/src/high/b.ts", "")];
    assert!(layered(&files, &["low", "high"], &[]).is_empty());
}

#[test]
fn the_longest_row_holds_and_each_row_has_a_file_and_each_file_a_row() {
    let files = [
        ("node/src/a/low.ts", ""),
        ("node/src/a/high.ts", "import './low'"),
    ];
    assert!(layered(&files, &["a/low", "a"], &[]).is_empty());
    assert_eq!(layered(&files, &["a", "a/low"], &[]).len(), 1);
    assert_eq!(
        layered(&files, &["a", "b"], &[]),
        ["no file is in the layer `b`"]
    );
    assert_eq!(
        layered(&files, &["a/low"], &[]),
        ["has no row in the table of layers"]
    );
}

#[test]
fn a_circle_is_found_once_and_types_make_one_too() {
    let files = [
        ("node/src/a/one.ts", "import { two } from './two'"),
        ("node/src/a/two.ts", "import { three } from './three'"),
        ("node/src/a/three.ts", "import type { One } from './one'"),
        ("node/src/a/user.ts", "import { one } from './one'"),
    ];
    let circle = "3 files import each other in a circle: a/one.ts, a/three.ts, a/two.ts; move the types \
        that they share to a file below";
    assert_eq!(layered(&files, &["a"], &[]), [circle]);
}

#[test]
fn types_that_may_name_each_other_may_do_so_while_they_do_and_values_may_not() {
    const GROUP: &[(&[&str], &str)] = &[(&["a/one.ts", "a/two.ts"], "")];
    let two = ("node/src/a/two.ts", "import { one } from './one'");
    let types = [
        ("node/src/a/one.ts", "import type { Two } from './two'"),
        two,
    ];
    assert!(layered(&types, &["a"], GROUP).is_empty());
    let values = [("node/src/a/one.ts", "import { two } from './two'"), two];
    assert_eq!(layered(&values, &["a"], GROUP).len(), 1);
    let none = [("node/src/a/one.ts", ""), two];
    assert_eq!(
        layered(&none, &["a"], GROUP),
        ["the exception of a/one.ts, a/two.ts is not needed"]
    );
}

fn names(files: &[(&str, &str)]) -> Vec<String> {
    let found = super::names::check(&parse(&Tree::of(files)));
    found.into_iter().map(|Finding { text, .. }| text).collect()
}

#[test]
fn a_type_that_two_files_export_is_refused_and_functions_and_twins_are_not() {
    let one = ("node/src/a.ts", "export class Slots {}");
    for text in [
        "export interface Slots {}",
        "export type Slots<T> = T[]",
        "export abstract class Slots {}",
        "export const enum Slots { A }",
    ] {
        assert_eq!(
            names(&[one, ("node/src/b.ts", text)]),
            ["`Slots` means another thing in b.ts; name one of them by what it is"]
        );
    }
    for text in [
        "interface Slots {}",
        "export type { Slots } from './a'",
        "export function Slots () {}",
    ] {
        assert!(names(&[one, ("node/src/b.ts", text)]).is_empty(), "{text}");
    }
    let twins = [
        ("node/src/a.ts", "export class Exchange {}"),
        ("node/src/b.ts", "export class Exchange {}"),
    ];
    assert!(names(&twins).is_empty());
    let merged = "export interface Slots {}\nexport class Slots {}";
    assert!(names(&[("node/src/a.ts", merged)]).is_empty());
}

#[test]
fn an_exported_name_without_meaning_is_refused() {
    let text = "export class Desk {}\nexport function bodyHelper () {}\nexport const LANE_MAX = 1\n\
        export type Given = 1\nfunction inner () {}";
    assert_eq!(names(&[("node/src/a.ts", text)]).len(), 4);
}

#[test]
fn another_package_is_not_read() {
    let files = [("bench/src/a.ts", "export class Desk {}")];
    assert!(check(&Tree::of(&files)).is_empty());
}

#[test]
fn a_metaphor_is_refused_in_every_name_that_a_script_defines() {
    for line in [
        "const lane = 1",
        "  private readonly lane: number",
        "  async lane() {",
        "function lane() {}",
        "  #lane = 1",
        "  lane?: string",
    ] {
        let found = super::names::check_definitions("node/test/x.mjs", line);
        assert_eq!(found.len(), 1, "{line}");
        assert_eq!(
            (found[0].line, found[0].path.as_str()),
            (1, "node/test/x.mjs")
        );
    }
    for line in [
        "// const lane = 1",
        "const text = 'const lane = 1'",
        "use(lane)",
        "const plane = 1",
    ] {
        assert_eq!(
            super::names::check_definitions("node/src/x.ts", line),
            [],
            "{line}"
        );
    }
}

#[test]
fn a_field_of_exported_options_has_a_doc_comment() {
    let text = "export interface AOptions {\n  /** Bytes. Default: 1. */\n  a?: number\n  b?: { c: string }\n}\n\
                interface BOptions {\n  d: string\n}\nexport interface Other {\n  e: string\n}\n";
    let found = super::options::check(&Tree::of(&[("node/src/a.ts", text)]));
    let found: Vec<(usize, &str)> = found.iter().map(|f| (f.line, f.text.as_str())).collect();
    let expected = "`AOptions.b` has no doc comment: meaning, unit, range, default";
    assert_eq!(found, [(4, expected)]);
}
