//! Reads the admin page of a server or a client, for the commands that show it in a terminal.

pub(crate) mod explain;
pub(crate) mod top;

use crate::failure::Failure;
use crate::system::through_unix_socket;
use crate::target::Target;
use crate::token;
use http::StatusCode;
use http_body_util::{BodyExt as _, Limited};
use serde_json::Value;
use std::path::{Path, PathBuf};
use trunkline::client::Client;

/// Bytes of an answer: beyond the state of a server with all of its lists full.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Where the name of a host stands in a URL, of a page at a Unix socket.
const UNIX_URL: &str = "http://localhost";

/// The page and its token.
#[derive(clap::Args)]
pub(crate) struct PageOptions {
    /// The page's address, or unix:PATH.
    #[arg(default_value = "http://127.0.0.1:9901")]
    url: String,
    /// A file with the token of the page.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// A page to read.
struct AdminPage {
    client: Client,
    /// Scheme and authority.
    origin: String,
    token: Option<String>,
}

impl AdminPage {
    fn new(options: &PageOptions) -> Result<Self, Failure> {
        let token = options.token_file.as_deref();
        let token = token
            .map(|path| token::read("--token-file", path))
            .transpose()?;
        let socket = options.url.strip_prefix("unix:");
        let target = Target::parse(socket.map_or(options.url.as_str(), |_| UNIX_URL))?;
        let client = match socket {
            Some(path) => through_unix_socket(Client::builder(), Path::new(path))?,
            None => Client::builder(),
        };
        let scheme = if target.tls { "https" } else { "http" };
        Ok(Self {
            client: client
                .build()
                .map_err(|error| Failure::usage(format_args!("{error:#}")))?,
            origin: format!("{scheme}://{}", target.authority()),
            token,
        })
    }
    /// The answer for a path, with its status.
    async fn get(&self, path: &str) -> Result<(StatusCode, Vec<u8>), Failure> {
        let url = format!("{}{path}", self.origin);
        let mut request = self.client.get(&url);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let response = request.send().await;
        let response = response.map_err(|error| Failure::remote(format_args!("{error:#}")))?;
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED {
            return Err(Failure::remote(format_args!(
                "{url} needs its token: add --token-file"
            )));
        }
        let whole = Limited::new(response.into_body(), ANSWER_BYTES_MAX)
            .collect()
            .await;
        let whole = whole
            .map_err(|error| Failure::remote(format_args!("{url} cannot be read: {error}")))?;
        Ok((status, whole.to_bytes().to_vec()))
    }
    async fn state(&self) -> Result<Value, Failure> {
        let url = format!("{}/state.json", self.origin);
        let (status, body) = self.get("/state.json").await?;
        if status != StatusCode::OK {
            return Err(Failure::remote(format_args!("{url}: {status}")));
        }
        serde_json::from_slice(&body)
            .map_err(|_| Failure::remote(format_args!("{url} is not a state of trunkline's")))
    }
}

/// Runs what reads a page.
fn run<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format_args!("cannot start: {error}")))?;
    runtime.block_on(work)
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or(0)
}

/// A text of the state.
fn plain(value: &Value) -> String {
    printable(value.as_str().unwrap_or(""))
}

/// A text of the page: a peer chose some, which must not command the terminal.
fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}
