use super::is_distant;

#[test]
fn clients_of_the_loopback_interface_are_not_distant_in_either_family() {
    for near in [
        "127.0.0.1:1",
        "127.8.0.9:1",
        "[::1]:1",
        "[::ffff:127.0.0.1]:1",
    ] {
        assert!(!is_distant(near.parse().unwrap()), "{near}");
    }
    for distant in [
        "192.0.2.1:1",
        "10.0.0.1:1",
        "[2001:db8::1]:1",
        "[::ffff:192.0.2.1]:1",
        "[fe80::1]:1",
    ] {
        assert!(is_distant(distant.parse().unwrap()), "{distant}");
    }
}
