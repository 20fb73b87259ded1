use super::*;

fn for_host(host: &str, dns: &[&str], common: &[&str]) -> Result<(), String> {
    let names = Names {
        dns: dns.iter().map(|name| (*name).to_owned()).collect(),
        common: common.iter().map(|name| (*name).to_owned()).collect(),
        ..Names::default()
    };
    check(
        &names,
        &ServerName::try_from(host).unwrap().to_owned(),
        true,
    )
}

#[test]
fn names_match_as_in_node_js() {
    for (host, dns, common) in [
        ("a.com", &["A.com"][..], &[][..]),
        ("a.com", &["b.com", "a.com."], &[]),
        ("foo.a.com", &["f*.a.com"], &[]),
        ("a.b.com", &["*a.b.com"], &[]),
        ("xn--a.b.com", &["*.b.com"], &[]),
        ("a.com", &[], &["a.com"]),
        ("x.a.com", &[], &["b", "*.a.com"]),
    ] {
        assert_eq!(
            for_host(host, dns, common),
            Ok(()),
            "{host} {dns:?} {common:?}"
        );
    }
    for (host, dns, common) in [
        ("a.com", &["b.com"][..], &["a.com"][..]),
        ("a.com", &["*"], &[]),
        ("a.com", &[], &["*.com"]),
        ("a.b.c.com", &[], &["*.c.com"]),
        ("xn--a.b.com", &["xn--*.b.com"], &[]),
        ("f.a.com", &["f*f.a.com"], &[]),
        ("abc.a.com", &["*b*.a.com"], &[]),
        ("a.com", &["a.com\0.b"], &[]),
        ("a.com", &[], &[]),
        ("127.0.0.1", &["127.0.0.1"], &["127.0.0.1"]),
    ] {
        assert!(
            for_host(host, dns, common).is_err(),
            "{host} {dns:?} {common:?}"
        );
    }
}
