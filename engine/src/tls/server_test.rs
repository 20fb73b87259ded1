use super::*;

#[test]
fn no_early_data_is_taken_by_default_and_no_key_seals_tickets() {
    let tls = Tls::self_signed(["localhost"]).unwrap();
    for config in [tls.config_of(None), tls.quic_config(false)] {
        // RFC 8446 section 8: early data can be replayed.
        assert_eq!(config.max_early_data_size, 0);
        // Sessions are remembered here: whoever steals a key later can open none of them.
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
