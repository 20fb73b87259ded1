use super::Schemes;

#[test]
fn schemes_are_allowed_forbidden_and_named_alone() {
    for (text, http, https) in [
        ("all", true, true),
        ("=https", false, true),
        ("=HTTPS,http", true, true),
        ("-http", false, true),
        ("-all,+https", false, true),
        ("-all,https", false, true),
        ("=ftp", false, false),
        ("-ftp", true, true),
    ] {
        assert_eq!(Schemes::parse(text), Ok(Schemes { http, https }), "{text}");
    }
    assert!(Schemes::parse("=").is_err());
    assert!(Schemes::parse("=https,").is_err());
}
