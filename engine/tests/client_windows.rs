//! Receive windows through the public API: set and read by a body's handle, said with a request,
//! refused with what is allowed.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

#[path = "support/http3.rs"]
mod http3;
#[path = "support/origin.rs"]
mod origin;
#[path = "support/peer.rs"]
mod support;

use bytes::Bytes;
use http::Response;
use http_body_util::BodyExt;
use origin::{Origin, Speaks, run};
use trunkline::client::Client;
use trunkline::{Body, BodySender, Limits, Windows};

const KIB: u32 = 1024;
const MIB: u32 = 1024 * KIB;

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

#[test]
fn http1_says_that_it_has_no_windows() {
    run(async {
        let origin = Origin::start(Speaks::TlsH1, 100, |_| async {
            Response::new(endless_body())
        });
        let client = origin.client().build().unwrap();
        let response = client.get(origin.url("/")).send().await.unwrap();
        let handle = response.body().window().unwrap();
        for refused in [
            handle.receive_window().await,
            handle.set_receive_window(MIB).await,
            handle.connection_receive_window().await,
            handle.set_connection_receive_window(MIB).await,
        ] {
            let text = refused.unwrap_err().to_string();
            assert!(text.contains("HTTP/1.1 has no receive windows"), "{text}");
        }
    });
}

#[test]
fn http3_reads_both_windows_and_sets_the_connections() {
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
        let refused = handle.set_receive_window(20 * MIB).await.unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("16777216 on HTTP/3"), "{text}");
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
    let threshold = Windows {
        threshold: Some(64 * KIB),
        ..Windows::fixed_64k()
    };
    for (windows, name) in [
        (Windows::fixed(0, MIB), "windows.stream_initial is 0"),
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
