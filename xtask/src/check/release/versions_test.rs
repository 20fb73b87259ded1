use super::{check, dependencies, of_lock, of_package, of_workspace, others};

const MANIFEST: &str = r#"
[workspace.package]
version = "1.2.3"
[workspace.dependencies]
trunkline = { path = "engine", version = "1.2.2" }
bytes = { version = "1" }
trunkline-testkit = { path = "testkit" }
"#;

#[test]
fn each_place_with_another_version_is_named() {
    let version = of_workspace(MANIFEST).unwrap();
    let mut places = dependencies(MANIFEST).unwrap();
    places.push((
        "node/package.json".into(),
        of_package("{\n  \"version\": \"1.2.3\",\n").unwrap(),
    ));
    let lock = "[[package]]\nname = \"trunkline-cli\"\nversion = \"1.2.4\"\n[[package]]\nname = \"bytes\"\nversion = \"1.0.0\"\n";
    places.extend(of_lock(lock).unwrap());
    assert_eq!(
        others(&version, &places),
        [
            "the dependency on trunkline has 1.2.2",
            "trunkline-cli in Cargo.lock has 1.2.4"
        ]
    );
}

#[test]
fn this_workspace_has_one_version() {
    check(None).unwrap();
}

#[test]
fn a_tag_of_another_version_is_refused() {
    let why = check(Some("v999.0.0")).unwrap_err();
    assert!(why.contains("the tag v999.0.0 has 999.0.0"), "{why}");
}
