use super::{read, unpinned, workflows};

#[test]
fn an_action_that_a_tag_or_a_branch_names_is_found() {
    let hash = "08c6903cd8c0fde910a37f88322edcfb5dd907a8";
    let text = format!(
        "steps:\n  - uses: a/b@{hash} # v5.0.0\n  - uses: a/b@v5\n  - name: x\n    uses: a/b@{hash}\n    uses: ./.github/workflows/c.yml\n"
    );
    let lines: Vec<usize> = unpinned(&text).into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, [3, 5]);
}

#[test]
fn every_action_of_the_workflows_is_named_by_a_hash() {
    let files = workflows().unwrap();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let text = read(&file).unwrap();
        assert_eq!(unpinned(&text), [], "{}", file.display());
    }
}

/// Trusted publishing needs none.
#[test]
fn no_workflow_reads_a_secret_but_the_token_of_its_own_run() {
    for file in workflows().unwrap() {
        let text = read(&file).unwrap();
        assert!(!text.contains("secrets."), "{}", file.display());
    }
}
