use super::{Commands, DOCKERFILE, commands, read, root};

#[test]
fn the_commands_of_the_image_are_those_of_its_last_stage() {
    let found = commands(&read(&root().join(DOCKERFILE)).unwrap()).unwrap();
    assert_eq!(found.serves.first().map(String::as_str), Some("serve"));
    assert_eq!(found.health.first().map(String::as_str), Some("get"));
    // Folder, port and address are replaced by these words.
    for word in ["/srv", "[::]:8080"] {
        assert!(found.serves.iter().any(|it| it == word), "{word}");
    }
    let url = "http://127.0.0.1:8080/";
    assert!(found.health.iter().any(|it| it == url), "{found:?}");
}

#[test]
fn a_dockerfile_without_its_commands_is_refused_by_the_line_that_is_missing() {
    let text = "HEALTHCHECK --interval=1s CMD [\"/usr/bin/trunkline\", \"get\"]\nCMD [\"serve\"]\n";
    let found = Commands {
        serves: vec!["serve".to_owned()],
        health: vec!["get".to_owned()],
    };
    assert_eq!(commands(text), Ok(found));
    for (line, name) in text.lines().zip(["CMD", "HEALTHCHECK"]) {
        let why = commands(line).unwrap_err();
        assert!(why.contains(name), "{why}");
    }
}
