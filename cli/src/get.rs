//! `trunkline get URL`: one request, its response to a file or to standard output.

mod credentials;
mod decode;
mod output;
mod route;
mod trace;

use crate::failure::Failure;
use crate::serve::{in_full, key_log};
use crate::target::{self, Target};
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, LOCATION, RANGE, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::BodyExt;
use output::Output;
use route::RouteOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use trace::Trace;
use trunkline::client::{Client, ClientTimeouts, ClientTls, Protocols};
use trunkline::{Body, Error, Origin};

/// Redirects followed with `-L` (the fetch standard's number).
const REDIRECTS_MAX: u32 = 20;

/// Flags of `get`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The URL to fetch: http:// or https://
    url: String,
    /// Show the request, the answer's head, the connection with its addresses and whether it is new,
    /// and when each frame came.
    #[arg(short, long)]
    verbose: bool,
    /// Write the body to this file instead of standard output.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Write the answer's head before the body.
    #[arg(short, long)]
    include: bool,
    /// A request field, `name: value`; may be repeated.
    #[arg(short = 'H', long = "header")]
    headers: Vec<String>,
    /// Request body, or @FILE; the method becomes POST.
    #[arg(short = 'd', long)]
    data: Option<String>,
    /// The method.
    #[arg(short = 'X', long = "request")]
    method: Option<String>,
    /// Only HTTP/1.1.
    #[arg(long = "http1.1", conflicts_with = "http2")]
    http1: bool,
    /// Only HTTP/2 (on http:// by prior knowledge).
    #[arg(long)]
    http2: bool,
    /// HTTP/3 too, where the origin has said in an answer that it serves it.
    #[arg(long, conflicts_with_all = ["http1", "http2"])]
    http3: bool,
    /// HTTP/3 only: QUIC, no TCP.
    #[arg(long, conflicts_with_all = ["http1", "http2"])]
    http3_only: bool,
    /// Write what becomes of HTTP/3's packets to this file (qlog).
    #[arg(long, value_name = "FILE")]
    qlog: Option<PathBuf>,
    /// Follow redirects.
    #[arg(short = 'L', long)]
    location: bool,
    /// Exit with 1 when the status is 400 or more.
    #[arg(short, long)]
    fail: bool,
    /// Do not ask for compression; write the body as it comes.
    #[arg(long)]
    raw: bool,
    /// Do not verify the server's certificate.
    #[arg(short = 'k', long)]
    insecure: bool,
    /// Believe the certificates in this PEM file too.
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// Seconds for all of it.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
    #[command(flatten)]
    route: RouteOptions,
}

/// Fetches and writes.
pub(crate) fn run(options: Options) -> Result<(), Failure> {
    let target = Target::parse(&options.url)?;
    let client = client(&options)?;
    let asked = Asked::of(&options)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format_args!("cannot start: {error}")))?;
    runtime.block_on(fetch(&client, &options, target.uri, asked))
}

/// The request without its URL: what a redirect repeats.
struct Asked {
    method: Method,
    fields: HeaderMap,
    body: bytes::Bytes,
}

impl Asked {
    fn of(options: &Options) -> Result<Self, Failure> {
        let body = options.data.as_deref().map(data).transpose()?;
        let method = match &options.method {
            Some(name) => Method::from_bytes(name.as_bytes())
                .map_err(|_| Failure::usage(format_args!("-X {name:?} is not a method")))?,
            None if body.is_some() => Method::POST,
            None => Method::GET,
        };
        let mut fields = HeaderMap::new();
        for line in &options.headers {
            let (name, value) = target::field(line)?;
            let valid = "checked by target::field";
            fields.append(
                HeaderName::try_from(name).expect(valid),
                HeaderValue::try_from(value).expect(valid),
            );
        }
        let agent = HeaderValue::from_static(concat!("trunkline/", env!("CARGO_PKG_VERSION")));
        fields.entry(USER_AGENT).or_insert(agent);
        // A range is one of the bytes as they come (RFC 9110 section 14.1): a part of a compressed body
        // does not decode.
        if !options.raw && !fields.contains_key(RANGE) {
            let codings = HeaderValue::from_static(decode::CODINGS);
            fields.entry(ACCEPT_ENCODING).or_insert(codings);
        }
        Ok(Self {
            method,
            fields,
            body: body.unwrap_or_default(),
        })
    }

    fn request(&self, uri: &Uri) -> Request<Body> {
        let body = match self.body.is_empty() {
            true => Body::empty(),
            false => Body::full(self.body.clone()),
        };
        let mut request = Request::new(body);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = uri.clone();
        request.headers_mut().clone_from(&self.fields);
        request
    }

    /// RFC 9110 section 15.4: 303 turns into GET, and so by custom do 301 and 302 after POST; a
    /// field that was meant for one origin does not go to another.
    fn redirect(&mut self, status: StatusCode, from: &Uri, to: &Uri) {
        let custom = matches!(status, StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND)
            && self.method == Method::POST;
        if (status == StatusCode::SEE_OTHER && self.method != Method::HEAD) || custom {
            self.method = Method::GET;
            self.body.clear();
            self.fields.remove(http::header::CONTENT_TYPE);
        }
        if (from.scheme(), from.authority()) != (to.scheme(), to.authority()) {
            credentials::remove(&mut self.fields);
        }
    }
}

async fn fetch(
    client: &Client,
    options: &Options,
    mut uri: Uri,
    mut asked: Asked,
) -> Result<(), Failure> {
    let trace = Trace::start(options.verbose);
    let mut redirects = 0;
    loop {
        let request = asked.request(&uri);
        trace.request(&request);
        let response = client.execute(request).await.map_err(failure)?;
        trace.waits(client);
        trace.response(&response);
        let Some(next) = redirect(options, &uri, &response)? else {
            return deliver(options, &trace, response).await;
        };
        redirects += 1;
        if redirects > REDIRECTS_MAX {
            return Err(Failure::remote(format_args!(
                "more than {REDIRECTS_MAX} redirects; the last leads to {next}"
            )));
        }
        asked.redirect(response.status(), &uri, &next);
        uri = next;
    }
}

/// Where the answer leads, if it is to be followed.
fn redirect(
    options: &Options,
    from: &Uri,
    response: &Response<Body>,
) -> Result<Option<Uri>, Failure> {
    let follows = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = response
        .headers()
        .get(LOCATION)
        .filter(|_| options.location && follows)
    else {
        return Ok(None);
    };
    let refuse = |why: &str| {
        Failure::remote(format_args!(
            "the redirect to {location:?} cannot be followed: {why}"
        ))
    };
    let text = location.to_str().map_err(|_| refuse("it is not text"))?;
    let base = url::Url::parse(&from.to_string()).map_err(|error| refuse(&error.to_string()))?;
    let mut next = base
        .join(text)
        .map_err(|error| refuse(&error.to_string()))?;
    next.set_fragment(None);
    Ok(Some(
        Target::parse(next.as_str())
            .map_err(|failure| refuse(&failure.to_string()))?
            .uri,
    ))
}

async fn deliver(
    options: &Options,
    trace: &Trace,
    response: Response<Body>,
) -> Result<(), Failure> {
    let (head, body) = response.into_parts();
    let expected = head
        .headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse().ok());
    let mut output = Output::open(options.output.as_deref(), expected)?;
    if options.include {
        let text = trace::head_text(&head);
        let written = output.write_all(text.as_bytes());
        written.map_err(|error| broken(&mut output, &error))?;
    }
    let is_part = head.status == StatusCode::PARTIAL_CONTENT;
    let mut decoder = match options.raw {
        true => decode::Decoder::identity(output),
        false if is_part && head.headers.contains_key(CONTENT_ENCODING) => {
            return Err(Failure::remote(
                "a part of a compressed body does not decode; --raw writes it as it is",
            ));
        }
        false => decode::Decoder::of(&head.headers, output)?,
    };
    let mut body = body;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(failure)?;
        match frame.into_data() {
            Ok(data) => {
                trace.piece(data.len());
                let decoded = decoder.decode(&data);
                decoded.map_err(|error| broken(decoder.out(), &error))?;
            }
            Err(frame) => trace.trailers(frame.trailers_ref()),
        }
    }
    let finished = decoder.finish();
    finished.map_err(|error| broken(decoder.out(), &error))?;
    decoder.out().close()?;
    trace.end();
    if options.fail && head.status.as_u16() >= 400 {
        return Err(Failure::remote(format_args!(
            "the server answered {}",
            head.status
        )));
    }
    Ok(())
}

/// Why a body could not be decoded and written.
fn broken(output: &mut Output, error: &std::io::Error) -> Failure {
    let unwritten = output.take_failure();
    unwritten.unwrap_or_else(|| Failure::remote(format_args!("the body does not decode: {error}")))
}

fn data(text: &str) -> Result<bytes::Bytes, Failure> {
    match text.strip_prefix('@') {
        None => Ok(bytes::Bytes::from(text.to_owned())),
        Some(path) => std::fs::read(path)
            .map(bytes::Bytes::from)
            .map_err(|error| Failure::usage(format_args!("-d @{path} cannot be read: {error}"))),
    }
}

fn client(options: &Options) -> Result<Client, Failure> {
    let mut tls = ClientTls::new();
    if options.insecure {
        tls = tls.insecure();
    }
    if let Some(path) = &options.cacert {
        tls = tls.roots_from_pem_file(path).map_err(failure)?;
    }
    if let Some(path) = key_log() {
        tls = tls.key_log(path).map_err(failure)?;
    }
    let protocols = match (options.http1, options.http2, options.http3_only) {
        (true, _, _) => Protocols::H1Only,
        (_, true, _) => Protocols::H2Only,
        (_, _, true) => Protocols::H3Only,
        _ if options.http3 => Protocols::All,
        _ => Protocols::H2AndH1,
    };
    let timeouts = ClientTimeouts {
        total: options.timeout.map(Duration::from_secs),
        ..ClientTimeouts::default()
    };
    let client = Client::builder()
        .protocols(protocols)
        .tls(tls)
        .connection_info(options.verbose)
        .timeouts(timeouts);
    let client = match &options.qlog {
        Some(path) => client.qlog(path).map_err(failure)?,
        None => client,
    };
    options.route.apply(client)?.build().map_err(failure)
}

fn failure(error: Error) -> Failure {
    match error.origin() {
        Origin::Config => Failure::usage(in_full(&error)),
        _ => Failure::remote(in_full(&error)),
    }
}
