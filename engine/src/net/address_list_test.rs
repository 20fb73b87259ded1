use super::*;

#[test]
fn addresses_and_networks_of_both_families_are_found_also_in_their_mapped_form() {
    let list = TrustedPeers::parse(["192.0.2.1", " 10.0.0.0/8", "::1", "fd00::/8"]).unwrap();
    for (address, expected) in [
        ("192.0.2.1", true),
        ("192.0.2.2", false),
        ("10.255.0.1", true),
        ("::ffff:10.1.2.3", true),
        ("11.0.0.1", false),
        ("::1", true),
        ("::2", false),
        ("fd12::1", true),
        ("fe80::1", false),
    ] {
        let found = list.contains(address.parse().unwrap());
        assert_eq!(found, expected, "{address}");
    }
}

#[test]
fn an_entry_that_is_no_address_is_named() {
    for wrong in ["10.0.0.0/33", "a.test", "", "10.0.0.1:80"] {
        let refused = TrustedPeers::parse(["::1", wrong]).unwrap_err().to_string();
        assert!(refused.contains(&format!("{wrong:?}")), "{refused}");
    }
}
