//! Our client over HTTP/3 with Bun, whose QUIC is lsquic's.

use crate::way::{Way, read, run, ten_mebibytes};
use http::Version;
use trunkline_interop::{Certificate, Workplace, bun, is_bun_installed};

#[test]
fn bun_answers_a_thousand_gets_a_head_and_an_upload_over_http3() {
    if !is_bun_installed() {
        return;
    }
    let workplace = Workplace::new().unwrap();
    let certificate = Certificate::write(workplace.path()).unwrap();
    let peer = bun(&workplace, &certificate).unwrap();
    run(async {
        let client = Way::H3.client(&certificate);
        let url = |path: &str| Way::H3.url_at(peer.port, path);
        let gets: Vec<_> = (0..1000)
            .map(|_| tokio::spawn(client.get(url("/bytes/1024")).send()))
            .collect();
        for get in gets {
            let response = get.await.unwrap().unwrap();
            assert_eq!(response.version(), Version::HTTP_3);
            assert_eq!(read(response.into_body()).await.0.len(), 1024);
        }
        let head = client.head(url("/bytes/1024")).send().await.unwrap();
        assert_eq!(head.headers()["content-length"], "1024");
        assert!(read(head.into_body()).await.0.is_empty());
        let echo = client.post(url("/echo")).body(ten_mebibytes()).send();
        let same = read(echo.await.unwrap().into_body()).await.0 == ten_mebibytes();
        assert!(same, "the bytes came back changed");
    });
}
