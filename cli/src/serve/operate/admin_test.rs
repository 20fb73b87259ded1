use super::*;

#[test]
fn an_admin_address_that_others_reach_needs_a_token() {
    let place = |text: &str| text.parse::<ListenAddress>().expect("a place");
    for text in ["0.0.0.0:0", "[::]:0", "192.0.2.1:9901"] {
        let refused = AdminOptions::of(Some(&place(text)), None);
        let why = refused.expect_err(text).to_string();
        assert!(why.contains("--admin-token-file"), "{why}");
    }
    for text in ["127.0.0.1:0", "[::1]:0", "localhost:0", "unix:/tmp/a"] {
        let allowed = AdminOptions::of(Some(&place(text)), None);
        assert!(allowed.is_ok_and(|it| it.is_some()), "{text}");
    }
}
