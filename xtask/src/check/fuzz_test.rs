use super::{TARGETS, parse};
use crate::root;
use std::collections::BTreeSet;

fn files(dir: &str) -> BTreeSet<String> {
    std::fs::read_dir(root().join(dir))
        .expect(dir)
        .flatten()
        .filter_map(|entry| Some(entry.path().file_stem()?.to_string_lossy().into_owned()))
        .collect()
}

#[test]
fn every_target_has_a_file_and_seeds() {
    let named: BTreeSet<String> = TARGETS.iter().map(ToString::to_string).collect();
    assert_eq!(named, files("fuzz/fuzz_targets"));
    assert_eq!(named, files("fuzz/seeds"));
}

#[test]
fn an_unknown_target_is_refused_with_what_there_is() {
    let why = parse(&["5".into(), "nothing".into()]).expect_err("refused");
    assert!(
        why.contains("'nothing'") && why.contains("h2_frames"),
        "{why}"
    );
    assert_eq!(parse(&["5".into(), "hpack".into()]), Ok((5, vec!["hpack"])));
}
