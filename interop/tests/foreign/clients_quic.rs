//! Our server over HTTP/3 with quic-go and aioquic.

use crate::ours::{Stage, stage, stage_early, stage_with};
use std::process::Command;
use std::time::Duration;
use trunkline::ServerConfig;
use trunkline_interop::{Process, QuicStack};

/// The stacks that are there.
fn stacks() -> impl Iterator<Item = QuicStack> {
    QuicStack::ALL
        .into_iter()
        .filter(|stack| stack.is_installed())
}

fn client(stack: QuicStack, stage: &Stage) -> Command {
    stack
        .client(&stage.certificate, stage.endpoints.tls)
        .unwrap()
}

/// The client's output for a case that succeeds.
fn printed(stack: QuicStack, stage: &Stage, arguments: &[&str]) -> String {
    let output = client(stack, stage).args(arguments).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{stack:?} {arguments:?}: {} {complaint}",
        output.status
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_quic_client_gets_and_heads_over_http3() {
    for stack in stacks() {
        let stage = stage();
        let got = printed(stack, &stage, &["get"]);
        assert!(got.ends_with("200 HTTP/3.0\n"), "{stack:?}: {got}");
        // aioquic takes an answer to HEAD with a content-length for a broken message.
        if stack == QuicStack::QuicGo {
            assert_eq!(printed(stack, &stage, &["head"]), "200 1024 0\n");
        }
        let metrics = stage.secure.metrics();
        assert_eq!(metrics.requests_h3, metrics.quic_connections, "{stack:?}");
        assert_eq!(metrics.violations, [], "{stack:?}");
    }
}

#[test]
fn a_quic_client_sends_ten_mebibytes_and_gets_them_back() {
    for stack in stacks() {
        assert_eq!(
            printed(stack, &stage(), &["echo"]),
            "same: true\n",
            "{stack:?}"
        );
    }
}

#[test]
fn trailers_go_both_ways_with_a_quic_client() {
    for stack in stacks() {
        let printed = printed(stack, &stage(), &["trailers"]);
        assert_eq!(printed, "body theirs\n", "{stack:?}");
    }
}

#[test]
fn a_quic_client_waits_for_100_continue_and_gets_it() {
    for stack in stacks() {
        let printed = printed(stack, &stage(), &["continue"]);
        assert_eq!(printed, "interim 100\n200 5\n", "{stack:?}");
    }
}

#[test]
fn a_quic_client_learns_of_a_link_before_the_answer() {
    for stack in stacks() {
        let stage = stage_with(ServerConfig::default().with_interim_responses(true));
        let printed = printed(stack, &stage, &["hints"]);
        let link = "</style.css>; rel=preload";
        assert_eq!(
            printed,
            format!("interim 103 {link}\n200 done\n"),
            "{stack:?}"
        );
    }
}

#[test]
fn a_quic_client_sees_a_reset_with_its_code_and_goes_on() {
    for stack in stacks() {
        let printed = printed(stack, &stage(), &["reset"]);
        // H3_INTERNAL_ERROR (RFC 9114 section 8.1).
        assert!(printed.starts_with("reset 0x102"), "{stack:?}: {printed}");
        assert!(printed.contains("again 1024"), "{stack:?}: {printed}");
        assert!(!printed.contains("connections 2"), "{stack:?}: {printed}");
    }
}

#[test]
fn a_handler_learns_that_its_quic_client_gave_up() {
    for stack in stacks() {
        let stage = stage();
        let printed = printed(stack, &stage, &["cancel"]);
        assert!(printed.contains("gone\n"), "{stack:?}: {printed}");
        assert!(printed.contains("again 1024"), "{stack:?}: {printed}");
        let metrics = stage.secure.metrics();
        assert_eq!(metrics.quic_connections, 1, "{stack:?}");
        assert_eq!(metrics.violations, [], "{stack:?}");
    }
}

#[test]
fn an_upload_that_is_refused_is_stopped_and_its_answer_arrives() {
    for stack in stacks() {
        let printed = printed(stack, &stage(), &["refuse"]);
        assert!(
            printed.starts_with("refused 413\nagain 1024"),
            "{stack:?}: {printed}"
        );
        assert!(!printed.contains("connections 2"), "{stack:?}: {printed}");
    }
}

#[test]
fn new_keys_in_the_middle_of_transfers_change_nothing() {
    for stack in stacks() {
        let expected = match stack {
            QuicStack::Aioquic => "same: true\n",
            // After a hundred packets, or before where quinn-proto is first: it draws its own number.
            QuicStack::QuicGo => "same: true\nsame: true\nnew keys 1\n",
        };
        assert_eq!(printed(stack, &stage(), &["keys"]), expected, "{stack:?}");
    }
}

#[test]
fn a_download_goes_on_when_its_client_moves_to_a_proven_path() {
    let stack = QuicStack::QuicGo;
    if stack.is_installed() {
        let printed = printed(stack, &stage(), &["migrate"]);
        assert_eq!(printed, "same: true connections 1\n");
    }
}

#[test]
fn a_download_goes_on_when_the_address_of_its_client_changes() {
    let stack = QuicStack::Aioquic;
    if stack.is_installed() {
        assert_eq!(printed(stack, &stage(), &["rebind"]), "same: true\n");
    }
}

#[test]
fn a_client_that_begins_with_an_unknown_version_gets_ours() {
    let stack = QuicStack::Aioquic;
    if stack.is_installed() {
        assert_eq!(printed(stack, &stage(), &["versions"]), "200 HTTP/3.0\n");
    }
}

#[test]
fn beyond_so_many_half_open_connections_a_client_proves_its_address_first() {
    let flood = QuicStack::Aioquic;
    if !flood.is_installed() {
        return;
    }
    let mut config = ServerConfig::default();
    // None of them may be given up while the others are begun.
    config.timeouts.handshake = None;
    let stage = stage_with(config);
    let number = trunkline::core::limits::QUIC_HALF_OPEN_MAX.to_string();
    printed(flood, &stage, &["--number", &number, "half-open"]);
    assert_eq!(
        stage.secure.metrics().quic_retries,
        0,
        "not before the limit"
    );
    let mut before = 0;
    for stack in stacks() {
        let printed = printed(stack, &stage, &["get"]);
        assert!(printed.ends_with("200 HTTP/3.0\n"), "{stack:?}: {printed}");
        // A client whose first flight is two packets is asked twice.
        let retries = stage.secure.metrics().quic_retries;
        assert!(retries > before, "{stack:?} was not asked");
        before = retries;
    }
}

#[test]
fn a_client_is_read_with_its_handshake_where_its_method_is_safe() {
    for stack in stacks() {
        let stage = stage_early();
        let (expected, too_early) = match stack {
            QuicStack::Aioquic => ("200 late not taken\n200 early taken\n425  taken\n", 1),
            // It sends nothing but GET and HEAD before the handshake is done.
            QuicStack::QuicGo => (
                "200 late taken: false\n200 early taken: true\n200 late taken: true\n",
                0,
            ),
        };
        assert_eq!(printed(stack, &stage, &["early"]), expected, "{stack:?}");
        let metrics = stage.secure.metrics();
        let early = (metrics.requests_early, metrics.too_early);
        assert_eq!(early, (1, too_early), "{stack:?}");
    }
}

#[test]
fn datagrams_of_a_client_come_back_and_those_of_no_tunnel_end_their_request() {
    let stack = QuicStack::Aioquic;
    if !stack.is_installed() {
        return;
    }
    let stage = stage_with(
        ServerConfig::default()
            .with_extended_connect(true)
            .with_datagrams(true),
    );
    let same = ["datagram 0 True", "datagram 4 True", "datagram 1000 True"].join("\n");
    // RFC 9297 section 2: H3_DATAGRAM_ERROR.
    let printed = printed(stack, &stage, &["datagrams"]);
    assert_eq!(printed, format!("{same}\nbytes\nreset 0x33\n"));
}

#[test]
fn a_drain_reports_a_quic_client_and_loses_nothing() {
    for stack in stacks() {
        let stage = stage();
        let mut command = client(stack, &stage);
        if stack == QuicStack::QuicGo {
            command.arg("-requests=50");
        }
        command.arg("hold");
        let log = stage.workplace.path().join("hold.log");
        let mut process = Process::start(&mut command, &[], log).unwrap();
        process.receive("held 50\n").unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let drained = runtime.block_on(async {
            let draining = tokio::spawn(stage.secure.drain(Duration::from_secs(60)));
            if stack == QuicStack::Aioquic {
                // Nothing is let go before the GOAWAY is there.
                process.receive("told").unwrap();
            }
            stage.held.add_permits(50);
            draining.await.unwrap()
        });
        let printed = process.receive("end 0x").unwrap();
        assert_eq!(drained.cut, 0, "{stack:?}: {printed}");
        assert!(printed.contains("whole 50\n"), "{stack:?}: {printed}");
        // H3_NO_ERROR; before it, first everything, then what was the last (RFC 9114 section 5.2).
        let end = match stack {
            QuicStack::QuicGo => "connections 1 end 0x100",
            QuicStack::Aioquic => "goaway [4611686018427387900, 200] end 0x100",
        };
        assert!(printed.contains(end), "{stack:?}: {printed}");
    }
}

#[test]
fn sixty_four_connections_with_thirty_two_streams_each_are_all_answered() {
    let stack = QuicStack::QuicGo;
    if !stack.is_installed() {
        return;
    }
    let stage = stage();
    let shape = ["-connections=64", "-streams=32", "-requests=6400", "many"];
    assert_eq!(printed(stack, &stage, &shape), "answered 6400\n");
    let metrics = stage.secure.metrics();
    assert_eq!(metrics.requests_h3, 6400);
    assert_eq!(metrics.quic_connections, 64);
}
