use super::*;

#[test]
fn descriptors_begin_at_three_and_have_their_names_in_order() {
    let named = |count: &str, names| {
        let places = places(count, names).expect("a number");
        let text: Vec<String> = places.iter().map(ToString::to_string).collect();
        text.join(", ")
    };
    assert_eq!(named("0", None), "");
    assert_eq!(named("1", None), "descriptor 3 of LISTEN_FDS");
    assert_eq!(
        named("3", Some("https:admin")),
        "descriptor 3 of LISTEN_FDS (https), descriptor 4 of LISTEN_FDS (admin), descriptor 5 of LISTEN_FDS"
    );
    for wrong in ["", "x", "-1", "4097", "99999999999"] {
        let error = places(wrong, None).expect_err(wrong).to_string();
        assert!(error.contains("LISTEN_FDS is"), "{error}");
    }
}

#[test]
fn each_kind_of_socket_is_known_and_others_name_their_descriptor() {
    let place = GivenDescriptor {
        number: 7,
        name: "web".to_owned(),
    };
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = tcp.local_addr().expect("bound");
    let connection = std::net::TcpStream::connect(address).expect("it listens");
    let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let unix = std::os::unix::net::UnixDatagram::unbound().expect("a socket");
    assert!(matches!(kind_of(&place, &tcp.into()), Ok(SocketKind::Tcp)));
    assert!(matches!(kind_of(&place, &udp.into()), Ok(SocketKind::Udp)));
    for (descriptor, expected) in [
        (OwnedFd::from(connection), "does not listen"),
        (OwnedFd::from(unix), "of another kind"),
    ] {
        let error = kind_of(&place, &descriptor)
            .map(|_| ())
            .expect_err(expected);
        let error = error.to_string();
        assert!(
            error.contains("descriptor 7 of LISTEN_FDS (web)"),
            "{error}"
        );
        assert!(error.contains(expected), "{error}");
    }
}
