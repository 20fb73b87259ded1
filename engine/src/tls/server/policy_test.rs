use super::*;
use rustls::crypto::aws_lc_rs;

const TLS13_AES_128: u16 = 0x1301;
const TLS12_ECDSA_AES_256: u16 = 0xc02c;
const X25519: u16 = 0x001d;
const UNKNOWN: u16 = 0x0005;

fn suites(policy: &TlsPolicy) -> Vec<u16> {
    let provider = policy.provider(&aws_lc_rs::default_provider()).unwrap();
    let numbers = provider.cipher_suites.iter();
    numbers.map(|suite| u16::from(suite.suite())).collect()
}

#[test]
fn suites_are_those_that_were_named_and_are_known_each_once_in_their_order() {
    let policy = TlsPolicy {
        suites: Some(vec![
            TLS12_ECDSA_AES_256,
            UNKNOWN,
            TLS13_AES_128,
            TLS12_ECDSA_AES_256,
        ]),
        ..TlsPolicy::default()
    };
    assert_eq!(suites(&policy), [TLS12_ECDSA_AES_256, TLS13_AES_128]);
}

#[test]
fn a_version_that_is_off_takes_its_suites_along_and_one_without_a_suite_is_off() {
    let whole = aws_lc_rs::default_provider();
    let spoken = |policy: &TlsPolicy| -> Vec<ProtocolVersion> {
        let versions = versions(&policy.provider(&whole).unwrap());
        versions.iter().map(|version| version.version).collect()
    };
    let all = TlsPolicy::default();
    let (older, newer) = (ProtocolVersion::TLSv1_2, ProtocolVersion::TLSv1_3);
    assert_eq!(spoken(&all), [newer, older]);
    let tls12 = TlsPolicy {
        tls13: false,
        ..all.clone()
    };
    assert_eq!(spoken(&tls12), [older]);
    assert!(!suites(&tls12).contains(&TLS13_AES_128));
    let one_suite = TlsPolicy {
        suites: Some(vec![TLS13_AES_128]),
        ..all
    };
    assert_eq!(spoken(&one_suite), [newer]);
}

#[test]
fn a_policy_that_leaves_nothing_is_refused_with_what_it_named() {
    let whole = aws_lc_rs::default_provider();
    let all = TlsPolicy::default;
    let no_suite = TlsPolicy {
        suites: Some(vec![UNKNOWN]),
        ..all()
    };
    let no_group = TlsPolicy {
        groups: Some(vec![]),
        ..all()
    };
    let no_version = TlsPolicy {
        suites: Some(vec![TLS13_AES_128]),
        tls13: false,
        ..all()
    };
    for (policy, words) in [
        (no_suite, "no cipher suite is left of Some([5])"),
        (no_group, "no group of key exchange is left of Some([])"),
        (no_version, "TLS 1.3 off"),
    ] {
        let refused = policy.provider(&whole).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn groups_are_those_that_were_named() {
    let policy = TlsPolicy {
        groups: Some(vec![X25519]),
        ..TlsPolicy::default()
    };
    let provider = policy.provider(&aws_lc_rs::default_provider()).unwrap();
    let names: Vec<u16> = provider
        .kx_groups
        .iter()
        .map(|group| u16::from(group.name()))
        .collect();
    assert_eq!(names, [X25519]);
}
