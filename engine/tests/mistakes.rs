//! Messages of ten typical mistakes: each says what is wrong and what to do. With `TRUNKLINE_ACCEPT=1` the golden
//! file is written anew.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::http3;
use crate::support::peer::service_fn;
use http::{Request, Response};
use std::convert::Infallible;
use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::{Body, Error, ResponseExt, Running, Server, Tls};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mistakes.golden.txt");

/// Messages, each under the mistake that made it; ports are as in any run, and so is the folder of the test.
#[derive(Default)]
struct Printed(String);

impl Printed {
    fn mistake(&mut self, name: &str) {
        self.0 += &format!("\n== {name}\n");
    }
    fn error(&mut self, error: &Error) {
        self.0 += &format!("{error}\n");
        let mut source = error.source();
        while let Some(cause) = source {
            self.0 += &format!("  because: {cause}\n");
            source = cause.source();
        }
    }
}

/// A server that answers after a while, which no test waits for.
fn serve(server: Server<trunkline::server::Port>) -> Result<Running, Error> {
    server
        .workers(1)
        .serve(service_fn(async |request: Request<Body>| {
            if request.uri().path() == "/slow" {
                std::future::pending::<()>().await;
            }
            Ok::<_, Infallible>(Response::new(Body::from("hello")))
        }))
}

async fn failed(client: &Client, url: &str) -> Error {
    match client.get(url).send().await {
        Ok(response) => panic!("{url} answered {}", response.status()),
        Err(error) => error,
    }
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("trunkline-mistakes-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn servers(printed: &mut Printed, folder: &Folder) {
    printed.mistake("a port in use");
    let first = serve(Server::bind("127.0.0.1:0")).unwrap();
    let again = serve(Server::bind(first.local_addr()).shares_port(false));
    printed.error(&again.err().unwrap());

    printed.mistake("an address without a port");
    printed.error(&serve(Server::bind("localhost")).err().unwrap());

    printed.mistake("a certificate that is not there, is none, or has another key");
    let missing: &Path = &folder.0.join("missing.pem");
    printed.error(&Tls::from_pem_files(missing, missing).err().unwrap());
    let text = folder.file("text.pem", "no certificate\n");
    printed.error(&Tls::from_pem_files(&text, &text).err().unwrap());
    let [one, other] = ["a.example", "b.example"]
        .map(|name| rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap());
    let (chain, key) = (one.cert.pem(), other.signing_key.serialize_pem());
    printed.error(
        &Tls::from_pem(chain.as_bytes(), key.as_bytes())
            .err()
            .unwrap(),
    );

    printed.mistake("HTTP/3 without TLS");
    printed.error(
        &serve(Server::bind("127.0.0.1:0").http3(true))
            .err()
            .unwrap(),
    );
}

async fn clients(printed: &mut Printed) {
    let plain = serve(Server::bind("127.0.0.1:0")).unwrap();
    let secured =
        serve(Server::bind("127.0.0.1:0").tls(Tls::self_signed(["localhost"]).unwrap())).unwrap();
    let (plain, secured) = (plain.local_addr(), secured.local_addr());
    let client = Client::builder().build().unwrap();

    printed.mistake("a URL without a scheme");
    printed.error(&failed(&client, "example.org/path").await);

    printed.mistake("http: to a port of TLS, https: to a port without");
    printed.error(&failed(&client, &format!("http://{secured}/")).await);
    printed.error(&failed(&client, &format!("https://{plain}/")).await);

    printed.mistake("no root at all, a self-signed certificate, and one for another name");
    let only = ClientTls::new().only_given_roots();
    let strict = Client::builder().tls(only).build().unwrap();
    let local = format!("https://localhost:{}/", secured.port());
    printed.error(&failed(&strict, &local).await);
    let mozillas = Client::builder().tls(ClientTls::new().mozillas_roots());
    printed.error(&failed(&mozillas.build().unwrap(), &local).await);
    let (certificate, root) = Tls::self_signed_with_root(&["other.test"]).unwrap();
    let other = serve(Server::bind("127.0.0.1:0").tls(certificate)).unwrap();
    let trusting = ClientTls::new().only_given_roots().root(root);
    let trusting = Client::builder().tls(trusting).build().unwrap();
    let other = format!("https://localhost:{}/", other.local_addr().port());
    printed.error(&failed(&trusting, &other).await);

    printed.mistake("nothing listens, over TCP and over UDP");
    printed.error(&failed(&client, "http://127.0.0.1:9/").await);
    let quic = Client::builder()
        .protocols(Protocols::H3Only)
        .tls(ClientTls::new().insecure());
    let quic = quic.build().unwrap();
    let (_nobody, port) = http3::nobody();
    printed.error(&failed(&quic, &format!("https://localhost:{port}/")).await);

    printed.mistake("a time that is too short, a setting out of its range");
    // Its connection is open before the time begins, which would else run out while it opens on a busy machine.
    client.get(format!("http://{plain}/")).send().await.unwrap();
    let hasty = client.get(format!("http://{plain}/slow"));
    let hasty = hasty.timeout(Duration::from_millis(50)).send().await;
    printed.error(&hasty.err().unwrap());
    printed.error(&Client::builder().connections(0).build().err().unwrap());

    printed.mistake("JSON that is none");
    let response = client.get(format!("http://{plain}/")).send().await.unwrap();
    printed.error(&response.json::<u32>().await.err().unwrap());
}

#[test]
fn ten_typical_mistakes_print_what_is_wrong_and_what_to_do() {
    let folder = Folder::new();
    let mut printed = Printed::default();
    servers(&mut printed, &folder);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(clients(&mut printed));
    let text = printed.0.replace(&folder.0.display().to_string(), "FOLDER");
    let text = without_ports(&text);
    if std::env::var_os("TRUNKLINE_ACCEPT").is_some() {
        std::fs::write(GOLDEN, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(GOLDEN).unwrap());
}

/// Numbers of five digits behind a colon are ports that the kernel chose.
fn without_ports(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split(':').enumerate() {
        if index > 0 {
            out.push(':');
        }
        let digits = part.len()
            - part
                .trim_start_matches(|digit: char| digit.is_ascii_digit())
                .len();
        match digits {
            4 | 5 => out = out + "PORT" + &part[digits..],
            _ => out += part,
        }
    }
    out
}
