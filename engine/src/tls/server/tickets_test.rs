use super::*;
use crate::tls::Tls;
use rustls::version::{TLS12, TLS13};
use rustls::{
    ClientConfig, ClientConnection, HandshakeKind, RootCertStore, ServerConnection,
    SupportedProtocolVersion,
};

const NOW: u64 = 1_800_000_000;

fn keys(first_bytes: &[u8]) -> TicketKeys {
    let keys: Vec<_> = first_bytes.iter().map(|byte| [*byte; 32]).collect();
    TicketKeys::new(&keys).unwrap()
}

#[test]
fn a_ticket_is_opened_by_every_server_that_has_its_key_and_by_no_other() {
    let ticket = keys(&[1, 2]).seal(b"session", NOW).unwrap();
    for also in [&[1][..], &[2, 1], &[3, 2, 1]] {
        assert_eq!(
            keys(also).open(&ticket, NOW).unwrap(),
            b"session",
            "{also:?}"
        );
    }
    assert_eq!(keys(&[2, 3]).open(&ticket, NOW), None);
    // No two tickets are alike, and none shows its session.
    assert_ne!(keys(&[1, 2]).seal(b"session", NOW).unwrap(), ticket);
    assert!(!ticket.windows(7).any(|window| window == b"session"));
}

#[test]
fn a_ticket_that_is_changed_cut_or_too_old_is_not_opened() {
    let keys = keys(&[1]);
    let ticket = keys.seal(b"session", NOW).unwrap();
    for at in 0..ticket.len() {
        let mut changed = ticket.clone();
        changed[at] ^= 1;
        assert_eq!(keys.open(&changed, NOW), None, "byte {at}");
        assert_eq!(keys.open(&ticket[..at], NOW), None, "{at} bytes");
    }
    let last = NOW + u64::from(LIFETIME_SECONDS);
    assert!(keys.open(&ticket, last).is_some());
    assert_eq!(keys.open(&ticket, last + 1), None);
    // The clock of the server that opens it is behind.
    assert!(keys.open(&ticket, NOW - 3600).is_some());
}

#[cfg(unix)]
#[test]
fn a_file_that_others_may_read_or_that_has_no_keys_is_refused_by_name_and_line_and_changes_nothing()
{
    use std::os::unix::fs::PermissionsExt as _;
    let path = std::env::temp_dir().join(format!("trunkline-tickets-{}", std::process::id()));
    let write = |text: &str, mode: u32| {
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let one = "01".repeat(32);
    write(&format!("# today\n\n {one} \n{}\n", "02".repeat(32)), 0o600);
    let read = TicketKeys::read(&path).unwrap();
    let ticket = read.seal(b"session", NOW).unwrap();
    assert_eq!(keys(&[1]).open(&ticket, NOW).unwrap(), b"session");
    assert_eq!(format!("{read:?}"), "TicketKeys(2)");
    for (text, mode, expected) in [
        (
            one.as_str(),
            0o604,
            "open to every user (mode 604); chmod 600",
        ),
        (one.as_str(), 0o602, "mode 602"),
        ("\n#\n", 0o600, "has no key"),
        (
            &format!("{one}\n{}\n", &one[1..]),
            0o600,
            "line 2 of the ticket key file",
        ),
        (&one.replace('1', "g"), 0o600, "64 hexadecimal digits"),
        (
            &format!("{one}\n").repeat(KEYS_MAX + 1),
            0o600,
            "33 ticket keys",
        ),
    ] {
        write(text, mode);
        let refused = read.read_again(&path).unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
        assert!(
            !refused.contains(&one[2..]),
            "it contains the key: {refused}"
        );
        assert!(read.open(&ticket, NOW).is_some());
    }
    write(&"03".repeat(32), 0o640);
    read.clone().read_again(&path).unwrap();
    assert_eq!(read.open(&ticket, NOW), None);
    std::fs::remove_file(&path).unwrap();
    let refused = TicketKeys::read(&path).unwrap_err().to_string();
    assert!(refused.contains("cannot be read"), "{refused}");
}

/// Moves bytes between both until neither has more to write.
fn pump(client: &mut ClientConnection, server: &mut ServerConnection) {
    loop {
        let (mut sent, mut answered) = (Vec::new(), Vec::new());
        while client.wants_write() {
            client.write_tls(&mut sent).unwrap();
        }
        let mut rest = sent.as_slice();
        while !rest.is_empty() {
            server.read_tls(&mut rest).unwrap();
            server.process_new_packets().unwrap();
        }
        while server.wants_write() {
            server.write_tls(&mut answered).unwrap();
        }
        let mut rest = answered.as_slice();
        while !rest.is_empty() {
            client.read_tls(&mut rest).unwrap();
            client.process_new_packets().unwrap();
        }
        if sent.is_empty() && answered.is_empty() {
            return;
        }
    }
}

#[test]
fn a_session_of_one_server_is_resumed_by_every_other_that_has_its_keys_on_both_versions_of_tls() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let with = |first_bytes: &[u8]| tls.clone().ticket_keys(&keys(first_bytes));
    let mut roots = RootCertStore::empty();
    roots.add(root).unwrap();
    let versions: [&'static SupportedProtocolVersion; 2] = [&TLS12, &TLS13];
    for version in versions {
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        let client = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots.clone())
            .with_no_client_auth();
        let client = Arc::new(client);
        let handshake = |tls: &Tls| {
            let name = "localhost".try_into().unwrap();
            let mut client = ClientConnection::new(Arc::clone(&client), name).unwrap();
            let mut server = ServerConnection::new(tls.config_of(None)).unwrap();
            pump(&mut client, &mut server);
            server.handshake_kind().unwrap()
        };
        assert_eq!(handshake(&with(&[1, 2])), HandshakeKind::Full);
        // Its key is the second one here: the keys were replaced meanwhile.
        assert_eq!(handshake(&with(&[3, 1])), HandshakeKind::Resumed);
        assert_eq!(handshake(&with(&[3])), HandshakeKind::Resumed);
        assert_eq!(handshake(&with(&[4])), HandshakeKind::Full);
    }
}
