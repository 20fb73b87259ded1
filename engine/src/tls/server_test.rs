use super::*;

#[test]
fn no_early_data_is_taken_by_default_and_no_key_seals_tickets() {
    let tls = Tls::self_signed(["localhost"]).unwrap();
    for config in [tls.config_of(None), tls.quic_config(false)] {
        // RFC 8446 section 8: early data can be replayed.
        assert_eq!(config.max_early_data_size, 0);
        // Sessions are kept in memory: a key stolen later decrypts none of them.
        assert!(!config.ticketer.enabled());
    }
    assert_eq!(tls.quic_config(true).max_early_data_size, u32::MAX);
}

#[test]
fn a_configuration_of_rustls_keeps_its_certificates() {
    let made = Tls::self_signed(["localhost"]).unwrap();
    let given = Tls::from_rustls(made.config_of(None));
    let refused = given.identities().unwrap_err().to_string();
    assert!(refused.contains("its own resolver"), "{refused}");
}

#[test]
fn the_same_private_key_gives_the_same_seed_after_a_restart_and_another_gives_another() {
    let made = |name: &str| {
        let signed = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
        (signed.cert.pem(), signed.signing_key.serialize_pem())
    };
    let [a, b] = ["a.test", "b.test"].map(made);
    let tls = |(certificate, key): &(String, String)| {
        Tls::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap()
    };
    let seed = tls(&a).seed().unwrap();
    assert_eq!(tls(&a).seed(), Some(seed.clone()));
    assert_ne!(tls(&b).seed(), Some(seed.clone()));
    assert_eq!(format!("{seed:?}"), "Seed");
    // The certificate for any name counts, or else the one whose name sorts first.
    let named = Tls::for_names().unwrap();
    assert_eq!(named.seed(), None);
    let (certificate, key) = &b;
    named
        .set_pem_for("b.test", certificate.as_bytes(), key.as_bytes())
        .unwrap();
    assert_eq!(named.seed(), tls(&b).seed());
    let (certificate, key) = &a;
    named
        .set_pem_for("a.test", certificate.as_bytes(), key.as_bytes())
        .unwrap();
    assert_eq!(named.seed(), Some(seed));
    named.set_pem(b.0.as_bytes(), b.1.as_bytes()).unwrap();
    assert_eq!(named.seed(), tls(&b).seed());
    assert_eq!(Tls::from_rustls(named.config_of(None)).seed(), None);
}
