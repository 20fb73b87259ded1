//! Receive windows through the public API: set and read by a body's handle, said with a request,
//! refused with what is allowed.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::http3;
use crate::support::origin::{Origin, Speaks, run};
use crate::support::udp_relay::UdpRelay;
use bytes::Bytes;
use http::Response;
use http_body_util::BodyExt;
use std::time::Duration;
use trunkline::client::Client;
use trunkline::{Body, BodySender, Limits, WindowHandle, Windows};

const KIB: u32 = 1024;
const MIB: u32 = 1024 * KIB;
/// The most that one read takes, bytes.
const READ_MAX: u32 = 80 * KIB;

/// Answers with a body that begins and does not end by itself.
fn endless() -> Origin {
    endless_of(100)
}

fn endless_of(streams_max: u32) -> Origin {
    Origin::start(Speaks::Tls, streams_max, |_| async {
        Response::new(endless_body())
    })
}

fn endless_body() -> Body {
    let (mut sender, body): (BodySender, Body) = Body::channel();
    tokio::spawn(
        async move { while sender.send(Bytes::from_static(&[7; 16_384])).await.is_ok() {} },
    );
    body
}

#[test]
fn a_window_is_read_and_set_through_the_body() {
    run(async {
        let origin = endless();
        let client = origin.client().build().unwrap();
        let response = client.get(origin.url("/")).send().await.unwrap();
        let handle = response.body().window().unwrap();
        let before = handle.receive_window().await.unwrap();
        assert_eq!(before.window, 64 * KIB);
        let after = handle.set_receive_window(2 * MIB).await.unwrap();
        assert_eq!(after.window, 2 * MIB);
        assert_eq!(after.granted, u64::from(2 * MIB), "nothing was read");
        assert!(after.unread <= after.used && after.used <= after.granted);
        let connection = handle.set_connection_receive_window(20 * MIB).await;
        assert_eq!(connection.unwrap().window, 20 * MIB);
        let connection = handle.connection_receive_window().await.unwrap();
        assert_eq!(connection.window, 20 * MIB);
    });
}

#[test]
fn a_window_that_would_shrink_is_refused_with_what_is_allowed() {
    run(async {
        let origin = endless();
        let client = origin.client().build().unwrap();
        let response = client.get(origin.url("/")).send().await.unwrap();
        let handle = response.body().window().unwrap();
        for window in [0, 70, u32::MAX] {
            let refused = handle.set_receive_window(window).await.unwrap_err();
            let text = refused.to_string();
            for part in ["receive_window", &window.to_string(), "65536", "2147483647"] {
                assert!(text.contains(part), "{text}");
            }
        }
        let mut body = response.into_body();
        let frame = body.frame().await.unwrap().unwrap();
        assert!(!frame.into_data().unwrap().is_empty(), "the body goes on");
    });
}

#[test]
fn a_request_says_how_large_its_window_is_to_be() {
    run(async {
        let origin = endless();
        let client = origin.client().build().unwrap();
        let sized = client.get(origin.url("/")).receive_window(3 * MIB);
        let response = sized.send().await.unwrap();
        let handle = response.body().window().unwrap();
        assert_eq!(handle.receive_window().await.unwrap().window, 3 * MIB);
        let guessed = client.get(origin.url("/")).expected_size(1 << 20);
        let response = guessed.send().await.unwrap();
        let handle = response.body().window().unwrap();
        assert_eq!(handle.receive_window().await.unwrap().window, MIB);
        for window in [0, 1 << 31] {
            let refused = client.get(origin.url("/")).receive_window(window);
            let text = refused.send().await.unwrap_err().to_string();
            assert!(
                text.contains(&format!("receive_window is {window}")),
                "{text}"
            );
        }
    });
}

#[test]
fn a_new_connection_begins_with_the_window_that_the_last_one_has_learned() {
    run(async {
        // One stream at a time: a second request opens a second connection.
        let origin = endless_of(1);
        // How soon a window grows is the path's and the machine's affair: read until it has.
        loop {
            let client = origin.client().build().unwrap();
            let response = client.get(origin.url("/")).send().await.unwrap();
            let learning = response.body().window().unwrap();
            let mut body = response.into_body();
            let mut read = 0;
            while read < 4 * MIB {
                read += body
                    .frame()
                    .await
                    .unwrap()
                    .unwrap()
                    .into_data()
                    .unwrap()
                    .len() as u32;
            }
            let learned = learning.receive_window().await.unwrap();
            let second = client.get(origin.url("/")).send().await.unwrap();
            let handle = second.body().window().unwrap();
            let first = handle.receive_window().await.unwrap();
            let connection = handle.connection_receive_window().await.unwrap();
            assert!(
                connection.used < u64::from(4 * MIB),
                "a connection of its own"
            );
            if learned.window > 64 * KIB && first.window > 64 * KIB {
                assert_eq!(first.granted, u64::from(first.window));
                return;
            }
        }
    });
}

#[test]
fn a_new_http3_connection_begins_with_the_window_that_the_last_one_has_learned() {
    run(async {
        let one = Limits::default().with_request_streams_max(1);
        let origin = http3::Origin::start(one, |_| async { Response::new(endless_body()) });
        // A window grows for what is on its way: it needs a way that takes time.
        let far = Duration::from_millis(100);
        let relay = UdpRelay::far_from(origin.running.local_addr(), far).await;
        // How soon it grows, and when the pool gets a report, depends on the path and the machine.
        for tries in 1.. {
            let client = origin.client().build().unwrap();
            let response = client.get(relay.url("/")).send().await.unwrap();
            let mut body = response.into_body();
            let mut read = 0;
            while read < 16 * MIB {
                let piece = body.frame().await.unwrap().unwrap();
                read += piece.into_data().unwrap().len() as u32;
            }
            let second = client.get(relay.url("/")).send().await.unwrap();
            let handle = second.body().window().unwrap();
            let first = handle.connection_receive_window().await.unwrap();
            assert_eq!(relay.clients(), 2 * tries, "a connection of its own");
            if first.window > MIB {
                return;
            }
        }
    });
}

#[test]
fn a_body_that_ended_has_no_window_and_says_so() {
    run(async {
        let origin = Origin::start(Speaks::Tls, 100, |_| async {
            Response::new(Body::from(vec![0; 50_000]))
        });
        let client = origin.client().build().unwrap();
        let response = client.get(origin.url("/")).send().await.unwrap();
        let handle = response.body().window();
        response.into_body().collect().await.unwrap();
        if let Some(handle) = handle {
            assert!(handle.receive_window().await.is_err());
        }
        assert!(Body::from("text").window().is_none());
    });
}

/// Waits until as much lies unread as the window holds, and looks on for a while: no more comes
/// than a read that was begun before.
async fn fills(handle: &WindowHandle, window: u32) {
    let full = u64::from(window)..u64::from(window + READ_MAX);
    while handle.receive_window().await.unwrap().unread < full.start {
        tokio::task::yield_now().await;
    }
    for _ in 0..1000 {
        let unread = handle.receive_window().await.unwrap().unread;
        assert!(full.contains(&unread), "{unread} of {window}");
    }
}

#[test]
fn http1_reads_ahead_as_far_as_its_window_and_no_further() {
    run(async {
        let origin = Origin::start(Speaks::TlsH1, 100, |_| async {
            Response::new(endless_body())
        });
        let client = origin.client().build().unwrap();
        let response = client.get(origin.url("/")).send().await.unwrap();
        let handle = response.body().window().unwrap();
        let before = handle.receive_window().await.unwrap();
        assert_eq!((before.window, before.rtt), (256 * KIB, None));
        fills(&handle, 256 * KIB).await;
        let after = handle.set_receive_window(2 * MIB).await.unwrap();
        assert_eq!(after.window, 2 * MIB);
        fills(&handle, 2 * MIB).await;
        for refused in [
            handle.set_receive_window(MIB).await,
            handle.set_connection_receive_window(MIB).await,
        ] {
            let text = refused.unwrap_err().to_string();
            assert!(text.contains("receive_window is 1048576"), "{text}");
        }
        let connection = handle.connection_receive_window().await.unwrap();
        assert_eq!(connection.window, 2 * MIB, "it is the same");
        let mut body = response.into_body();
        let frame = body.frame().await.unwrap().unwrap();
        assert!(!frame.into_data().unwrap().is_empty(), "the body goes on");
    });
}

#[test]
fn http3_reads_and_sets_both_windows() {
    run(async {
        let origin = http3::Origin::start(Limits::default(), |_| async {
            Response::new(endless_body())
        });
        let client = origin.client().build().unwrap();
        let response = client.get(origin.url("/")).send().await.unwrap();
        let handle = response.body().window().unwrap();
        let stream = handle.receive_window().await.unwrap();
        assert_eq!(stream.window, 16 * MIB, "one size for all streams");
        assert_eq!(stream.unread, stream.used, "nothing was read");
        let refused = handle.set_receive_window(MIB).await.unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("16777216"), "{text}");
        let wider = handle.set_receive_window(20 * MIB).await.unwrap();
        assert_eq!(wider.window, 20 * MIB);
        let before = handle.connection_receive_window().await.unwrap();
        assert!(before.window >= MIB && before.rtt.is_some(), "{before:?}");
        let after = handle.set_connection_receive_window(30 * MIB).await;
        assert_eq!(after.unwrap().window, 30 * MIB);
        let refused = handle.set_connection_receive_window(MIB).await.unwrap_err();
        let text = refused.to_string();
        assert!(text.contains(&(30 * MIB).to_string()), "{text}");
        let mut body = response.into_body();
        let mut read = 0;
        while read < 4 * MIB {
            read += body
                .frame()
                .await
                .unwrap()
                .unwrap()
                .into_data()
                .unwrap()
                .len() as u32;
        }
        let read = handle.connection_receive_window().await.unwrap();
        assert!(read.used >= u64::from(4 * MIB), "{read:?}");
    });
}

#[test]
fn window_settings_out_of_range_are_refused_by_name() {
    let threshold = Windows::fixed_64k().with_threshold(Some(64 * KIB));
    for (windows, name) in [
        (Windows::fixed(0, MIB), "windows.stream_max is 0"),
        (
            Windows::fixed(MIB, 1 << 31),
            "windows.connection is 2147483648",
        ),
        (threshold, "windows.threshold is 65536"),
    ] {
        let refused = Client::builder().windows(windows).build().unwrap_err();
        assert!(refused.to_string().contains(name), "{refused}");
    }
    for windows in [
        Windows::auto(),
        Windows::fixed_64k(),
        Windows::fixed(4 * MIB, 16 * MIB),
    ] {
        assert!(Client::builder().windows(windows).build().is_ok());
    }
}
