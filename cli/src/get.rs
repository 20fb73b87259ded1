//! `trunkline get URL`: requests, their responses to files or to standard output, as curl has them.

mod body;
mod cookies;
mod exit;
mod given;
mod options;
mod output;
mod request;
mod route;

pub(crate) use options::GetOptions;

use crate::failure::{Failure, report};
use crate::target::{self, Target};
use http::header::{CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH, LOCATION};
use http::{HeaderValue, Response, StatusCode, Uri};
use http_body::Body as _;
use http_body_util::BodyExt;
use output::heads::{HeadFile, Interims, head_text};
use output::pace::Pace;
use output::trace::Trace;
use output::write_out::{self, Facts};
use output::{Destination, Opening, Output, resume};
use request::RequestTemplate;
use request::glob::{self, Expanded};
use route::netrc::Netrc;
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Runtime;
use tokio::task::{JoinSet, LocalSet};
use trunkline::client::{Client, ConnectionUse, Jar, RequestBuilder};
use trunkline::{Body, ResponseExt as _};

/// The codings that we ask for and decode.
const CODINGS: HeaderValue = HeaderValue::from_static("gzip, deflate, br, zstd");

/// Fetches and writes.
pub(crate) fn run(options: GetOptions) -> Result<(), Failure> {
    let hides_errors = options.output.hides_errors();
    let outcome = Get::new(options).and_then(|get| Rc::new(get).all());
    match hides_errors {
        true => outcome.map_err(Failure::silenced),
        false => outcome,
    }
}

/// The parts that all URLs of a command share.
struct Get {
    options: GetOptions,
    client: Client,
    template: RequestTemplate,
    jar: Option<Arc<Jar>>,
    /// The format of -w.
    format: Option<String>,
    heads: RefCell<HeadFile>,
    netrc: Netrc,
}

/// One URL of the command line.
struct Fetch {
    uri: Uri,
    template: RequestTemplate,
    place: Destination,
    facts: Facts,
}

impl Get {
    fn new(options: GetOptions) -> Result<Self, Failure> {
        let jar = options.cookies.jar()?;
        Ok(Self {
            client: request::client::client(&options, jar.clone())?,
            template: RequestTemplate::of(&options)?,
            jar,
            format: write_out::format_of(options.output.write_out.as_deref())?,
            heads: RefCell::new(HeadFile::open(options.output.dump_header.as_deref())?),
            netrc: options.netrc.read()?,
            options,
        })
    }

    /// Fetches each URL, also behind one that failed. The last failure is the command's.
    fn all(self: Rc<Self>) -> Result<(), Failure> {
        let mut fetches = Vec::new();
        for (number, url) in self.options.urls.0.iter().enumerate() {
            let urls = match self.options.globoff {
                true => vec![Expanded::plain(url)],
                false => glob::expand(url)?,
            };
            for url in urls {
                fetches.push(self.fetch_of(number, &url)?);
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::usage(format_args!("cannot start: {error}")))?;
        let failed = match self.options.parallel {
            true => self.at_once(&runtime, fetches)?,
            false => self.one_by_one(&runtime, fetches)?,
        };
        self.options.cookies.save(self.jar.as_deref())?;
        failed.map_or(Ok(()), Err)
    }

    fn one_by_one(
        &self,
        runtime: &Runtime,
        fetches: Vec<Fetch>,
    ) -> Result<Option<Failure>, Failure> {
        let mut failed = None;
        for fetch in fetches {
            self.note(&mut failed, runtime.block_on(self.one(fetch))?);
        }
        Ok(failed)
    }

    /// -Z.
    fn at_once(
        self: &Rc<Self>,
        runtime: &Runtime,
        fetches: Vec<Fetch>,
    ) -> Result<Option<Failure>, Failure> {
        let (mut running, mut failed) = (JoinSet::new(), None);
        let (mut waiting, max) = (fetches.into_iter(), self.options.parallel_max);
        LocalSet::new().block_on(runtime, async {
            loop {
                let room = usize::from(max).saturating_sub(running.len());
                for fetch in waiting.by_ref().take(room) {
                    let get = Rc::clone(self);
                    running.spawn_local(async move { get.one(fetch).await });
                }
                match running.join_next().await {
                    Some(Ok(ended)) => self.note(&mut failed, ended?),
                    Some(Err(error)) => return Err(Failure::remote(error)),
                    None => return Ok(failed),
                }
            }
        })
    }

    /// Keeps a failure as the command's, and reports the one before.
    fn note(&self, failed: &mut Option<Failure>, failure: Option<Failure>) {
        if let Some(failure) = failure
            && let Some(before) = failed.replace(failure)
            && !self.options.output.hides_errors()
        {
            before.report();
        }
    }

    /// One URL with what -w has behind it, and its failure.
    ///
    /// # Errors
    /// Standard output cannot be written: there is no use in another URL.
    async fn one(&self, mut fetch: Fetch) -> Result<Option<Failure>, Failure> {
        fetch.facts.began = Instant::now();
        let failure = self.fetch(&mut fetch).await.err();
        if let Some(failure) = &failure {
            fetch.facts.exit_code = failure.code();
            fetch.facts.error = failure.to_string();
        }
        self.write_out(&fetch.facts)?;
        Ok(failure)
    }

    /// Checks all that can be checked before anything is sent.
    fn fetch_of(&self, number: usize, expanded: &Expanded) -> Result<Fetch, Failure> {
        let url = expanded.url.as_str();
        let (target, credentials) = target_of(url)?;
        let mut template = self.template.clone();
        let credentials = self.credentials(&target, credentials);
        template.authenticate(credentials.as_deref())?;
        let place = match self.options.output.place(number) {
            Destination::RemoteName if !self.options.output.remote_header_name => {
                Destination::File(output::name_of(target.path())?)
            }
            Destination::File(path) => {
                let named = path.to_str().map(|name| expanded.name(name).into());
                Destination::File(named.unwrap_or(path))
            }
            place => place,
        };
        let uri = match self.options.path_as_is {
            true => target::with_path(target.uri, target::written_path(url))?,
            false => target.uri,
        };
        let query = match self.options.body.get {
            true => self.options.body.data.bytes()?,
            false => None,
        };
        let uri = match query {
            Some(query) => target::with_query(uri, &query)?,
            None => template.name_upload(uri)?,
        };
        let facts = Facts::new(uri.clone());
        Ok(Fetch {
            uri,
            template,
            place,
            facts,
        })
    }

    /// The user and the password for a URL: its own, or those of the .netrc file.
    fn credentials(&self, target: &Target, given: Option<String>) -> Option<String> {
        self.netrc
            .credentials(target.uri.host().unwrap_or_default(), given)
    }

    async fn fetch(&self, fetch: &mut Fetch) -> Result<(), Failure> {
        let trace = Trace::start(self.options.verbose);
        let file = match &fetch.place {
            Destination::File(path) => Some(path.as_path()),
            Destination::Stdout | Destination::RemoteName => None,
        };
        let from = resume::start(self.options.continue_at, file)?;
        fetch.template.start_at(from);
        let mut written_heads = String::new();
        loop {
            let response = self.exchange(&trace, fetch, &mut written_heads).await?;
            let next = redirect(&fetch.uri, &response);
            fetch.facts.redirect_url = match &next {
                Some(Ok((target, _))) => Some(target.uri.to_string()),
                _ => None,
            };
            let next = match next {
                Some(next) if self.options.location => next?,
                _ => {
                    return self
                        .deliver(&trace, fetch, response, from, &written_heads)
                        .await;
                }
            };
            let max = self.options.max_redirs;
            if fetch.facts.redirects >= max {
                let text = format!(
                    "more than {max} redirects; the last leads to {}",
                    next.0.uri
                );
                return Err(Failure::new(exit::REDIRECTS, text));
            }
            fetch.facts.redirects += 1;
            let (target, credentials) = next;
            let credentials = self.credentials(&target, credentials);
            fetch
                .template
                .redirect(response.status(), &fetch.uri, &target.uri);
            fetch.template.authenticate(credentials.as_deref())?;
            fetch.uri = target.uri;
            // The rest of a redirect's body: the connection can be used again where it is short.
            drop(response);
        }
    }

    /// One request, and what -D, -i, -w and -v want of its response's head.
    async fn exchange(
        &self,
        trace: &Trace,
        fetch: &mut Fetch,
        written_heads: &mut String,
    ) -> Result<Response<Body>, Failure> {
        self.options.route.check(&fetch.uri)?;
        let mut request = fetch.template.request(&self.client, &fetch.uri).await?;
        cookies::merge(&mut request, self.jar.as_deref());
        trace.request(&request);
        fetch.facts.url = fetch.uri.clone();
        fetch.facts.method = request.method().to_string();
        let interims = Interims::default();
        let request = interims.of(RequestBuilder::from_parts(&self.client, request));
        let response = request.send().await;
        let response = response.map_err(|error| exit::of(&trace.failed(error), false))?;
        trace.waits(&self.client);
        trace.response(&response);
        let (version, status) = (response.version(), response.status());
        let text = interims.take() + &head_text(&response);
        self.heads.borrow_mut().write(&text)?;
        written_heads.push_str(&text);
        fetch.facts.first_byte = Some(Instant::now());
        fetch.facts.head_bytes += text.len() as u64;
        fetch.facts.connection = response.extensions().get::<ConnectionUse>().cloned();
        fetch.facts.head = Some((version, status, response.headers().clone()));
        Ok(response)
    }

    async fn deliver(
        &self,
        trace: &Trace,
        fetch: &mut Fetch,
        response: Response<Body>,
        from: u64,
        written_heads: &str,
    ) -> Result<(), Failure> {
        let (head, body) = response.into_parts();
        let refusal = (head.status.as_u16() >= 400).then(|| {
            let text = format!("the server answered {}", head.status);
            Failure::new(exit::STATUS, text)
        });
        if self.options.fail
            && let Some(refusal) = refusal
        {
            return Err(refusal);
        }
        if from > 0 && resume::is_whole(head.status, &head.headers, from)? {
            return Ok(());
        }
        let length = head.headers.get(CONTENT_LENGTH);
        let (path, is_new) = self.path(&fetch.place, &fetch.uri, &head.headers)?;
        fetch.facts.file = path
            .as_ref()
            .map_or(String::new(), |path| path.display().to_string());
        let mut output = Output::open(
            path.as_deref(),
            Opening {
                from,
                expected: length.and_then(|length| length.to_str().ok()?.parse().ok()),
                is_new,
                creates_folders: self.options.output.create_dirs,
                is_silent: self.options.output.silent,
            },
        )?;
        if self.options.output.include || self.options.head {
            output.write(written_heads.as_bytes())?;
        }
        let mut body = match self.options.raw {
            true => body,
            false => decoded(Response::from_parts(head, body))?,
        };
        let mut pace = Pace::new(self.options.limit_rate);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| exit::of(&trace.failed(error), true))?;
            trace.frame(&frame);
            if let Ok(data) = frame.into_data() {
                output.write(&data)?;
                fetch.facts.body_bytes += data.len() as u64;
                pace.spend(data.len()).await;
            }
        }
        output.close()?;
        trace.end();
        match refusal.filter(|_| self.options.fail_with_body) {
            Some(refusal) => Err(refusal),
            None => Ok(()),
        }
    }

    /// The file for a body, and whether the server chose its name; `None`: standard output.
    fn path(
        &self,
        place: &Destination,
        uri: &Uri,
        fields: &http::HeaderMap,
    ) -> Result<(Option<PathBuf>, bool), Failure> {
        match place {
            Destination::Stdout => Ok((None, false)),
            Destination::File(path) => Ok((Some(path.clone()), false)),
            Destination::RemoteName => {
                let disposition = fields.get(CONTENT_DISPOSITION);
                let named = disposition.and_then(|value| output::name_in(value.to_str().ok()?));
                match named {
                    Some(name) => Ok((Some(name), true)),
                    None => output::name_of(uri.path()).map(|name| (Some(name), false)),
                }
            }
        }
    }

    fn write_out(&self, facts: &Facts) -> Result<(), Failure> {
        let Some(format) = &self.format else {
            return Ok(());
        };
        let (text, unknown) = write_out::filled(format, facts);
        for name in unknown {
            report!("trunkline: -w knows no variable {name:?}");
        }
        let mut output = Output::open(None, Opening::default())?;
        output.write(text.as_bytes())?;
        output.close()
    }
}

/// A URL of the command line, with curl's codes for what is wrong with it.
fn target_of(url: &str) -> Result<(Target, Option<String>), Failure> {
    target::with_credentials(url).map_err(|failure| {
        let is_other = url.split_once("://").is_some_and(|(scheme, _)| {
            !["http", "https"]
                .iter()
                .any(|known| scheme.eq_ignore_ascii_case(known))
        });
        failure.with_code(match is_other {
            true => exit::SCHEME,
            false => exit::URL,
        })
    })
}

/// Where the answer leads, if it leads anywhere.
fn redirect(
    from: &Uri,
    response: &Response<Body>,
) -> Option<Result<(Target, Option<String>), Failure>> {
    let leads = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(LOCATION);
    // One without a value leads nowhere.
    let location = location.filter(|location| leads && !location.is_empty())?;
    let next = || {
        let text = location.to_str().map_err(|_| "it is not text".to_owned())?;
        let base = url::Url::parse(&from.to_string()).map_err(|error| error.to_string())?;
        let mut next = base.join(text).map_err(|error| error.to_string())?;
        next.set_fragment(None);
        target::with_credentials(next.as_str()).map_err(|failure| failure.to_string())
    };
    Some(next().map_err(|why| {
        let text = format!("the redirect to {location:?} cannot be followed: {why}");
        Failure::new(exit::SCHEME, text)
    }))
}

/// The body without its content codings.
fn decoded(response: Response<Body>) -> Result<Body, Failure> {
    let response = response.decompressed();
    let coding = response.headers().get(CONTENT_ENCODING);
    if let Some(coding) = coding.filter(|coding| !matches!(coding.as_bytes(), b"identity" | b""))
        && !response.body().is_end_stream()
    {
        return Err(Failure::new(
            exit::CODING,
            match response.status() {
                StatusCode::PARTIAL_CONTENT => {
                    "a part of a compressed body does not decode; --raw writes it as it is"
                        .to_owned()
                }
                _ => format!(
                    "the server used content-encoding {coding:?}, which was not asked for; --raw writes it as it is"
                ),
            },
        ));
    }
    Ok(response.into_body())
}
