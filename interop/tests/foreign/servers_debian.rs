//! Our client with nginx and nghttpd.

use crate::way::{Way, read, run, ten_mebibytes};
use http::StatusCode;
use trunkline_interop::{Certificate, Cores, Peer, Workplace, is_installed, nghttpd, nginx};

struct Stage {
    peer: Peer,
    certificate: Certificate,
    _workplace: Workplace,
}

fn with_nginx(settings: &str) -> Option<Stage> {
    is_installed("nginx", "nginx-light").then(|| {
        let workplace = Workplace::new().unwrap();
        let certificate = Certificate::write(workplace.path()).unwrap();
        let peer = nginx(&workplace, &certificate, &Cores::Any, settings).unwrap();
        Stage {
            peer,
            certificate,
            _workplace: workplace,
        }
    })
}

fn with_nghttpd(flags: &[&str]) -> Option<Stage> {
    is_installed("nghttpd", "nghttp2-server").then(|| {
        let workplace = Workplace::new().unwrap();
        let certificate = Certificate::write(workplace.path()).unwrap();
        let peer = nghttpd(&workplace, &certificate, &Cores::Any, flags).unwrap();
        Stage {
            peer,
            certificate,
            _workplace: workplace,
        }
    })
}

/// GET and HEAD of the file of 1,024 bytes.
async fn gets_and_heads(stage: &Stage, way: Way) {
    let client = way.client(&stage.certificate);
    let url = way.url(stage.peer.endpoints, "/bytes/1024");
    let got = client.get(&url).send().await.unwrap();
    assert_eq!(
        (got.status(), got.version()),
        (StatusCode::OK, way.version()),
        "{way:?}"
    );
    assert_eq!(read(got.into_body()).await.0, vec![b'x'; 1024], "{way:?}");
    let head = client.head(&url).send().await.unwrap();
    assert_eq!(head.headers()["content-length"], "1024", "{way:?}");
    assert!(
        read(head.into_body()).await.0.is_empty(),
        "{way:?}: HEAD has no body"
    );
    let none = client
        .get(way.url(stage.peer.endpoints, "/none"))
        .send()
        .await
        .unwrap();
    assert_eq!(none.status(), StatusCode::NOT_FOUND, "{way:?}");
}

#[test]
fn nginx_answers_get_and_head_every_way() {
    let Some(stage) = with_nginx("") else { return };
    run(async {
        for way in Way::ALL {
            gets_and_heads(&stage, way).await;
        }
    });
}

#[test]
fn nginx_stores_ten_mebibytes_and_gives_them_back_every_way() {
    let Some(stage) = with_nginx("") else { return };
    run(async {
        for way in Way::ALL {
            let client = way.client(&stage.certificate);
            let url = way.url(stage.peer.endpoints, &format!("/dav/{way:?}"));
            let put = client.put(&url).body(ten_mebibytes()).send().await.unwrap();
            assert_eq!(put.status(), StatusCode::CREATED, "{way:?}");
            let got = client.get(&url).send().await.unwrap();
            let same = read(got.into_body()).await.0 == ten_mebibytes();
            assert!(same, "{way:?}: the bytes came back changed");
        }
    });
}

/// nginx ends a connection after a number of requests: GOAWAY, or `connection: close`. Of 100 at
/// once no request meets that more often than its tries.
#[test]
fn no_request_is_lost_when_nginx_ends_connections_in_the_middle() {
    let Some(stage) = with_nginx("keepalive_requests 40;") else {
        return;
    };
    run(async {
        for way in Way::ALL {
            let client = way.client(&stage.certificate);
            let url = way.url(stage.peer.endpoints, "/bytes/1024");
            let requests: Vec<_> = (0..100)
                .map(|_| tokio::spawn(client.get(&url).send()))
                .collect();
            for request in requests {
                let response = request.await.unwrap().unwrap();
                assert_eq!(response.status(), StatusCode::OK, "{way:?}");
                assert_eq!(read(response.into_body()).await.0.len(), 1024, "{way:?}");
            }
        }
    });
}

/// Ten requests per connection, ninety in flight behind them: each comes back, and none runs out of
/// tries. nginx says nothing of the number; two connections tell it.
#[test]
fn a_burst_is_answered_whole_by_an_nginx_that_ends_connections_every_ten_requests() {
    let Some(stage) = with_nginx("keepalive_requests 10;") else {
        return;
    };
    run(async {
        for way in Way::ALL {
            let client = way.client(&stage.certificate);
            let url = way.url(stage.peer.endpoints, "/bytes/1024");
            let requests: Vec<_> = (0..300)
                .map(|_| tokio::spawn(client.get(&url).send()))
                .collect();
            for request in requests {
                let response = request.await.unwrap().unwrap();
                assert_eq!(response.status(), StatusCode::OK, "{way:?}");
                assert_eq!(read(response.into_body()).await.0.len(), 1024, "{way:?}");
            }
            let totals = client.totals();
            // Requests sent before the second connection is cut off come back; later ones do not.
            assert!(totals.retries_unprocessed <= 300, "{way:?}: {totals:?}");
            assert!(totals.connections <= 34, "{way:?}: {totals:?}");
            assert_eq!(totals.retries_over_budget, 0, "{way:?}");
        }
    });
}

#[test]
fn nghttpd_answers_get_and_head() {
    let Some(stage) = with_nghttpd(&[]) else {
        return;
    };
    run(async {
        for way in Way::H2 {
            gets_and_heads(&stage, way).await;
        }
    });
}

#[test]
fn nghttpd_echoes_ten_mebibytes() {
    let Some(stage) = with_nghttpd(&["--echo-upload"]) else {
        return;
    };
    run(async {
        for way in Way::H2 {
            let client = way.client(&stage.certificate);
            let url = way.url(stage.peer.endpoints, "/");
            let echo = client
                .post(&url)
                .body(ten_mebibytes())
                .send()
                .await
                .unwrap();
            let same = read(echo.into_body()).await.0 == ten_mebibytes();
            assert!(same, "{way:?}: the bytes came back changed");
        }
    });
}

#[test]
fn trailers_of_nghttpd_arrive_behind_the_body() {
    let Some(stage) = with_nghttpd(&["--trailer", "x-sum: 42"]) else {
        return;
    };
    run(async {
        for way in Way::H2 {
            let client = way.client(&stage.certificate);
            let url = way.url(stage.peer.endpoints, "/bytes/1024");
            let (body, trailers) = read(client.get(&url).send().await.unwrap().into_body()).await;
            assert_eq!(body.len(), 1024, "{way:?}");
            assert_eq!(trailers["x-sum"], "42", "{way:?}");
        }
    });
}
