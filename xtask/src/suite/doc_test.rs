use crate::root;

/// Opening fences of code that is compiled and run.
fn examples(page: &str) -> usize {
    let fences = page.lines().filter(|line| line.starts_with("```"));
    fences.step_by(2).filter(|fence| *fence == "```").count()
}

#[test]
fn the_guide_has_thirty_examples_that_run() {
    let folder = root().join("engine/src/guide");
    let pages = std::fs::read_dir(folder).expect("the guide is there");
    let texts =
        pages.map(|page| std::fs::read_to_string(page.expect("listed").path()).expect("a page"));
    let count: usize = texts.map(|text| examples(&text)).sum();
    assert!(count >= 30, "{count}");
    assert_eq!(examples("```\na\n```\n```no_run\nb\n```\n"), 1);
}
