use super::{read, root, stem};

/// `cargo binstall` fills in the template of the manifest; it must be the name that the archive has.
#[test]
fn cargo_binstall_asks_for_the_archive_that_a_release_has() {
    let manifest: toml::Table = read(&root().join("cli/Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let binstall = &manifest["package"]["metadata"]["binstall"];
    let filled = |key: &str| {
        let template = binstall[key].as_str().unwrap();
        template
            .replace("{ version }", "1.2.3")
            .replace("{ target }", "x86_64-unknown-linux-gnu")
            .replace("{ bin }", "trunkline")
            .replace("{ binary-ext }", "")
    };
    let stem = stem("1.2.3", "x86_64-unknown-linux-gnu");
    assert_eq!(
        filled("pkg-url"),
        format!("{{ repo }}/releases/download/v1.2.3/{stem}.tar.gz")
    );
    assert_eq!(filled("bin-dir"), format!("{stem}/trunkline"));
    assert_eq!(binstall["pkg-fmt"].as_str(), Some("tgz"));
}
