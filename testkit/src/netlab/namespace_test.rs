use super::owner;

#[test]
fn a_namespace_of_ours_names_its_process() {
    assert_eq!(owner("netlab-4711-0-client"), Some(4711));
    assert_eq!(owner("netlab-4711-12-server"), Some(4711));
}

#[test]
fn other_namespaces_are_nobody_s() {
    for name in [
        "",
        "web",
        "netlab",
        "netlab-",
        "netlab-x-0-client",
        "mynetlab-1-0-client",
    ] {
        assert_eq!(owner(name), None, "{name}");
    }
}
