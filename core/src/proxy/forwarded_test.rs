use super::*;

/// 10.0.0.0/8 and the loopback address of IPv6 are proxies.
fn is_listed(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[0] == 10,
        IpAddr::V6(address) => address.is_loopback(),
    }
}

fn standard(values: &[&str]) -> Option<ForwardedClient> {
    forwarded_client(values.iter().map(|value| value.as_bytes()), is_listed)
}

fn by_x(addresses: &[&str], protos: &[&str], hosts: &[&str]) -> Option<ForwardedClient> {
    let of = |list: &[&str]| {
        list.iter()
            .map(|it| it.as_bytes().to_vec())
            .collect::<Vec<_>>()
    };
    let (addresses, protos, hosts) = (of(addresses), of(protos), of(hosts));
    x_forwarded_client(
        addresses.iter().map(Vec::as_slice),
        protos.iter().map(Vec::as_slice),
        hosts.iter().map(Vec::as_slice),
        is_listed,
    )
}

fn address(client: Option<&ForwardedClient>) -> Option<String> {
    Some(client?.address?.to_string())
}

#[test]
fn one_proxy_states_the_address_the_scheme_and_the_host_of_its_client() {
    let client =
        standard(&["For=\"[2001:db8::17]:4711\";proto=https; by=203.0.113.43;host=a.test:8443"]);
    let client = client.expect("it is stated");
    assert_eq!(address(Some(&client)).as_deref(), Some("2001:db8::17"));
    assert_eq!((client.port, client.is_secure), (Some(4711), Some(true)));
    assert_eq!(client.host.expect("a host"), "a.test:8443");
    let client = by_x(&["192.0.2.7"], &["http"], &["a.test"]).expect("it is stated");
    assert_eq!(address(Some(&client)).as_deref(), Some("192.0.2.7"));
    assert_eq!((client.port, client.is_secure), (None, Some(false)));
    assert_eq!(client.host.expect("a host"), "a.test");
}

#[test]
fn elements_in_front_of_the_first_that_is_no_listed_proxy_are_never_believed() {
    // The client has put the first one there.
    for values in [
        &["for=198.51.100.1;proto=https, for=192.0.2.7;proto=http"][..],
        &["for=198.51.100.1;proto=https", "for=192.0.2.7;proto=http"],
        &["for=198.51.100.1;proto=https, for=192.0.2.7;proto=http, for=10.0.0.1"],
        &[
            "for=198.51.100.1, for=192.0.2.7;proto=http",
            "for=10.0.0.2;proto=https, for=10.0.0.1",
        ],
        &["for=10.0.0.9, for=192.0.2.7;proto=http, for=\"[::1]\""],
    ] {
        let client = standard(values);
        assert_eq!(
            address(client.as_ref()).as_deref(),
            Some("192.0.2.7"),
            "{values:?}"
        );
        assert_eq!(
            client.expect("it is stated").is_secure,
            Some(false),
            "{values:?}"
        );
    }
    for addresses in [
        &["198.51.100.1, 192.0.2.7"][..],
        &["198.51.100.1", "192.0.2.7, 10.0.0.1"],
        &["10.0.0.9,192.0.2.7 , 10.0.0.2,10.0.0.1"],
    ] {
        let client = by_x(addresses, &[], &[]);
        assert_eq!(
            address(client.as_ref()).as_deref(),
            Some("192.0.2.7"),
            "{addresses:?}"
        );
    }
}

#[test]
fn where_all_are_listed_the_first_is_the_client() {
    let client = standard(&["for=10.0.0.3, for=10.0.0.2", "for=10.0.0.1"]);
    assert_eq!(address(client.as_ref()).as_deref(), Some("10.0.0.3"));
}

#[test]
fn a_malformed_value_states_nothing_and_hides_nothing_that_a_listed_proxy_has_appended() {
    for value in [
        "for=\"",
        "for",
        "for=",
        "=192.0.2.7",
        "for=192.0.2.7 x",
        "for=192.0.2.7;for=192.0.2.8",
        "for=300.0.0.1",
        "for=\"[192.0.2.7\"",
        "for=a.test",
        "for=_",
        "for=192.0.2.7:99999",
    ] {
        assert_eq!(standard(&[value]), None, "{value}");
        // As the client's own, in front of what the proxy says in a value of its own.
        let client = standard(&[value, "for=192.0.2.9"]);
        assert_eq!(
            address(client.as_ref()).as_deref(),
            Some("192.0.2.9"),
            "{value}"
        );
    }
    // An open quotation mark of the client's takes in what its proxy appends to the same value: the client stays unknown.
    assert_eq!(standard(&["for=\", for=192.0.2.7"]), None);
    assert_eq!(
        standard(&["for=198.51.100.1;x=\", for=\"[2001:db8::1]\""]),
        None
    );
    assert_eq!(by_x(&["a.test"], &[], &[]), None);
    let client = by_x(&["a.test, 192.0.2.9"], &[], &[]);
    assert_eq!(address(client.as_ref()).as_deref(), Some("192.0.2.9"));
}

#[test]
fn a_proxy_may_keep_its_client_to_itself() {
    for value in [
        "for=unknown;proto=https",
        "for=_hidden;proto=https",
        "for=\"_a:_b\";proto=https",
        "proto=https",
    ] {
        let client = standard(&["for=198.51.100.1", value]).expect("it is stated");
        assert_eq!(
            (client.address, client.is_secure),
            (None, Some(true)),
            "{value}"
        );
    }
}

#[test]
fn schemes_and_hosts_are_of_the_client_where_each_proxy_states_one_and_of_the_peer_otherwise() {
    let of =
        |protos: &[&str]| by_x(&["192.0.2.7, 10.0.0.1"], protos, &[]).and_then(|it| it.is_secure);
    assert_eq!(of(&["https, http"]), Some(true));
    assert_eq!(of(&["https"]), Some(true));
    // A client's own value in front of its proxy's is not believed.
    assert_eq!(of(&["http, http, https"]), Some(true));
    assert_eq!(of(&["gopher"]), None);
    assert_eq!(of(&[]), None);
}

#[test]
fn the_walk_is_bounded_and_nothing_is_stated_without_a_field() {
    assert_eq!(standard(&[]), None);
    assert_eq!(standard(&["", " , ,"]), None);
    let many = vec!["for=10.0.0.1"; FORWARDED_ELEMENTS_MAX];
    let text = format!("for=192.0.2.7, {}", many.join(", "));
    let client = standard(&[&text]);
    assert_eq!(address(client.as_ref()).as_deref(), Some("10.0.0.1"));
}

#[test]
fn an_element_of_more_parameters_than_the_bound_is_malformed() {
    let element = |parameters: usize| {
        let others = (1..parameters).map(|at| format!(";x{at}=y"));
        format!("for=192.0.2.7{}", others.collect::<String>())
    };
    assert!(standard(&[&element(FORWARDED_PARAMETERS_MAX)]).is_some());
    assert_eq!(standard(&[&element(FORWARDED_PARAMETERS_MAX + 1)]), None);
}
