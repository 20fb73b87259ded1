//! `trunkline get URL`: one request, its response to a file or to standard output.

mod credentials;
mod form;
mod output;
mod resume;
mod route;
mod template;
mod trace;

use crate::failure::Failure;
use crate::serve::{in_full, key_log};
use crate::target::Target;
use crate::tls_options::TlsOptions;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, LOCATION};
use http::{HeaderValue, Response, StatusCode, Uri};
use http_body::Body as _;
use http_body_util::BodyExt;
use output::Output;
use route::RouteOptions;
use std::path::PathBuf;
use std::time::Duration;
use template::RequestTemplate;
use trace::Trace;
use trunkline::client::{Client, ClientTimeouts, Protocols, RedirectPolicy, RetryPolicy};
use trunkline::{Body, Error, Fault, ResponseExt as _};

/// Redirects followed with `-L` (the fetch standard's number).
const REDIRECTS_MAX: u32 = 20;
/// The codings that we ask for and decode.
const CODINGS: HeaderValue = HeaderValue::from_static("gzip, deflate, br, zstd");

/// Flags of `get`.
#[derive(clap::Args)]
pub(crate) struct GetOptions {
    /// The URLs to fetch, one after the other: http:// or https://
    #[arg(required = true, value_name = "URL")]
    urls: Vec<String>,
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
    /// Request body, or @FILE, or @- for standard input; the method becomes POST and the type that of a form,
    /// unless a field says another. May be repeated: joined by `&`.
    #[arg(short = 'd', long, alias = "data-binary")]
    data: Vec<String>,
    /// As -d, of the type application/json, which is asked for too.
    #[arg(long, conflicts_with = "data")]
    json: Option<String>,
    /// A part of a form, multipart/form-data: `name=text`, `name=@FILE` for a file, `name=<FILE` for a text out
    /// of one; behind a file `;type=TYPE` and `;filename=NAME`. May be repeated; the method becomes POST.
    #[arg(short = 'F', long = "form", value_name = "PART", conflicts_with_all = ["data", "json"])]
    form: Vec<String>,
    /// HEAD: write the answer's head alone.
    #[arg(short = 'I', long, conflicts_with_all = ["data", "json", "form"])]
    head: bool,
    /// Basic authentication, `user:password`.
    #[arg(short, long)]
    user: Option<String>,
    /// The field user-agent.
    #[arg(short = 'A', long, value_name = "NAME")]
    user_agent: Option<String>,
    /// The field cookie, `name=value; name=value`.
    #[arg(short = 'b', long)]
    cookie: Option<String>,
    /// Write the body to a file in this folder, named as the last part of the URL's path.
    #[arg(short = 'O', long, conflicts_with = "output")]
    remote_name: bool,
    /// Go on where the file of -o or -O ends (`-`), or at this offset in bytes; the file stays as it is where
    /// the server gives no such part.
    #[arg(short = 'C', long, value_name = "OFFSET", value_parser = resume::offset)]
    continue_at: Option<resume::Offset>,
    /// Times to try again after errors that can pass and the statuses 429, 502, 503 and 504, with pauses that
    /// grow or that the server asks for; only methods that do no harm twice, such as GET and PUT, unless nothing
    /// was sent.
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(1..=100))]
    retry: Option<u32>,
    /// No progress bar, and no word about a failure: the exit code says it.
    #[arg(short, long)]
    silent: bool,
    /// The method.
    #[arg(short = 'X', long = "request")]
    method: Option<String>,
    /// Only HTTP/1.1.
    #[arg(long = "http1.1", conflicts_with = "http2")]
    http1: bool,
    /// Only HTTP/2 (on http:// by prior knowledge).
    #[arg(long)]
    http2: bool,
    /// Try HTTP/3 first; where nothing answers over QUIC within 200 ms, HTTP/2 and HTTP/1.1 beside it.
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
    #[command(flatten)]
    tls: TlsOptions,
    /// Seconds for all of it.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
    #[command(flatten)]
    route: RouteOptions,
}

/// Fetches and writes.
pub(crate) fn run(options: GetOptions) -> Result<(), Failure> {
    let is_silent = options.silent;
    fetch_all(options).map_err(|failure| {
        if is_silent {
            failure.silenced()
        } else {
            failure
        }
    })
}

/// Fetches each URL, also behind one that failed. The last failure is the command's.
fn fetch_all(mut options: GetOptions) -> Result<(), Failure> {
    let targets: Result<Vec<_>, _> = options.urls.iter().map(|url| Target::parse(url)).collect();
    let targets = targets?;
    if targets.len() > 1 && options.output.is_some() {
        return Err(Failure::usage(
            "-o is one file, and there are several URLs: use -O, or a command for each",
        ));
    }
    options.include |= options.head;
    let client = client(&options)?;
    let template = RequestTemplate::of(&options)?;
    let files = targets.iter().map(|target| file(&options, target));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format_args!("cannot start: {error}")))?;
    let mut outcome = Ok(());
    for (target, file) in targets.into_iter().zip(files) {
        options.output = file;
        let fetched = fetch(&client, &options, target.uri, template.clone());
        if let Err(failure) = runtime.block_on(fetched)
            && let Err(before) = std::mem::replace(&mut outcome, Err(failure))
        {
            before.report(options.silent);
        }
    }
    outcome
}

/// The file for the body of an answer; `None`: standard output.
fn file(options: &GetOptions, target: &Target) -> Result<Option<PathBuf>, Failure> {
    match options.remote_name {
        true => output::name_of(target.path()).map(Some),
        false => Ok(options.output.clone()),
    }
}

async fn fetch(
    client: &Client,
    options: &GetOptions,
    mut uri: Uri,
    mut template: RequestTemplate,
) -> Result<(), Failure> {
    let trace = Trace::start(options.verbose);
    let from = resume::start(options.continue_at, options.output.as_deref())?;
    template.start_at(from);
    let mut redirects = 0;
    loop {
        let request = template.request(client, &uri).await?;
        trace.request(&request);
        let response = client.execute(request).await;
        let response = response.map_err(|error| failure(trace.failed(error)))?;
        trace.waits(client);
        trace.response(&response);
        let Some(next) = redirect(options, &uri, &response)? else {
            return deliver(options, &trace, response, from).await;
        };
        redirects += 1;
        if redirects > REDIRECTS_MAX {
            return Err(Failure::remote(format_args!(
                "more than {REDIRECTS_MAX} redirects; the last leads to {next}"
            )));
        }
        template.redirect(response.status(), &uri, &next);
        uri = next;
    }
}

/// Where the answer leads, if it is to be followed.
fn redirect(
    options: &GetOptions,
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
    options: &GetOptions,
    trace: &Trace,
    response: Response<Body>,
    from: u64,
) -> Result<(), Failure> {
    let (head, body) = response.into_parts();
    if from > 0 && resume::is_whole(head.status, &head.headers, from)? {
        return Ok(());
    }
    let expected = head
        .headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse().ok());
    let mut output = Output::open(options.output.as_deref(), from, expected, options.silent)?;
    if options.include {
        let text = trace::head_text(&head);
        output.write(text.as_bytes())?;
    }
    let mut body = match options.raw {
        true => body,
        false => decoded(Response::from_parts(head.clone(), body))?,
    };
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| failure(trace.failed(error)))?;
        trace.frame(&frame);
        if let Ok(data) = frame.into_data() {
            output.write(&data)?;
        }
    }
    output.close()?;
    trace.end();
    if options.fail && head.status.as_u16() >= 400 {
        return Err(Failure::remote(format_args!(
            "the server answered {}",
            head.status
        )));
    }
    Ok(())
}

/// The body without its content codings.
fn decoded(response: Response<Body>) -> Result<Body, Failure> {
    let response = response.decompressed();
    let coding = response.headers().get(CONTENT_ENCODING);
    if let Some(coding) = coding.filter(|coding| !matches!(coding.as_bytes(), b"identity" | b""))
        && !response.body().is_end_stream()
    {
        return Err(Failure::remote(match response.status() {
            StatusCode::PARTIAL_CONTENT => {
                "a part of a compressed body does not decode; --raw writes it as it is".to_owned()
            }
            _ => format!(
                "the server used content-encoding {coding:?}, which was not asked for; --raw writes it as it is"
            ),
        }));
    }
    Ok(response.into_body())
}

fn client(options: &GetOptions) -> Result<Client, Failure> {
    let mut tls = options.tls.client_tls().map_err(failure)?;
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
    let timeouts = ClientTimeouts::default().with_total(options.timeout.map(Duration::from_secs));
    // The response of the server is shown as it is; -L and --compressed are carried out above the client.
    let client = Client::builder()
        .redirect(RedirectPolicy::none())
        .decompression(false)
        .protocols(protocols)
        .assume_http3(options.http3)
        .tls(tls)
        .connection_info(options.verbose)
        .timeouts(timeouts);
    let client = match options.retry {
        Some(times) => client.retry(RetryPolicy::new(times).share(1.0)),
        None => client,
    };
    let client = match &options.qlog {
        Some(path) => client.qlog(path).map_err(failure)?,
        None => client,
    };
    options.route.apply(client)?.build().map_err(failure)
}

fn failure(error: Error) -> Failure {
    match error.fault() {
        Fault::Config => Failure::usage(in_full(&error)),
        _ => Failure::remote(in_full(&error)),
    }
}
