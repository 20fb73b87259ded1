//! `trunkline get URL`: requests, their responses to files or to standard output, as curl has them.

mod body;
pub(crate) mod command_line;
mod cookies;
mod exit;
mod given;
mod options;
mod output;
mod refused;
mod request;
mod route;
mod sequence;

pub(crate) use options::GetOptions;
pub(crate) use sequence::run;

use crate::failure::Failure;
use crate::target::{self, Target};
use cookies::KeptCookies;
use http::header::{CONTENT_LENGTH, REFERER};
use http::{HeaderValue, Request, Response, Uri};
use http_body::Body as _;
use output::heads::{HeadFile, Interims, head_text};
use output::trace::Trace;
use output::write_out::{self, Facts};
use output::{BodyPlace, Destination, resume};
use request::RequestTemplate;
use request::client::Lookups;
use request::glob::{self, Expanded};
use route::netrc::Netrc;
use route::redirects;
use route::retries::Tries;
use route::tries::Tried;
use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline::client::{Client, ConnectionUse, Jar, RequestBuilder};
use trunkline::{Body, ErrorKind};

/// The codings that we ask for and decode.
const CODINGS: HeaderValue = HeaderValue::from_static("gzip, deflate, br, zstd");

/// The parts that all URLs of a command share.
struct Get {
    options: GetOptions,
    client: Client,
    template: RequestTemplate,
    cookies: Option<Arc<KeptCookies>>,
    /// The format of -w.
    format: Option<String>,
    heads: RefCell<HeadFile>,
    netrc: Netrc,
    lookups: Lookups,
    /// Authorities that have answered: a request may go on a connection that was kept.
    answered: RefCell<HashSet<String>>,
}

/// One URL of the command line.
struct Fetch {
    uri: Uri,
    template: RequestTemplate,
    place: BodyPlace,
    facts: Facts,
}

impl Get {
    fn new(options: GetOptions, shared: &mut Option<Arc<Jar>>) -> Result<Self, Failure> {
        let template = RequestTemplate::of(&options)?;
        let cookies = options.cookies.kept(shared, template.host())?;
        let lookups = Lookups::default();
        Ok(Self {
            client: request::client::client(&options, cookies.clone(), lookups.clone())?,
            template,
            cookies,
            format: write_out::format_of(options.output.write_out.as_deref())?,
            heads: RefCell::new(HeadFile::open(options.output.dump_header.as_deref())?),
            netrc: options.netrc.read()?,
            lookups,
            answered: RefCell::default(),
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
            for file in self.uploads_to(number)? {
                for url in &urls {
                    fetches.push(self.fetch_of(number, url, file.as_deref())?);
                }
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
        self.options.cookies.save(self.cookies.as_deref())?;
        failed.map_or(Ok(()), Err)
    }

    /// The files of -T for the URL with this number, each of which is sent to it; `None`: nothing is.
    fn uploads_to(&self, number: usize) -> Result<Vec<Option<PathBuf>>, Failure> {
        let given = self.options.body.upload(number);
        match given.and_then(Path::to_str) {
            Some(pattern) if !self.options.globoff => {
                let expanded = glob::expand(pattern)?.into_iter();
                Ok(expanded.map(|file| Some(file.url.into())).collect())
            }
            _ => Ok(vec![given.map(Path::to_owned)]),
        }
    }

    /// Checks all that can be checked before anything is sent.
    fn fetch_of(
        &self,
        number: usize,
        expanded: &Expanded,
        file: Option<&Path>,
    ) -> Result<Fetch, Failure> {
        let url = expanded.url.as_str();
        let (target, credentials) = self.options.url.read(url)?;
        let mut template = self.template.clone();
        if let Some(file) = file {
            template.upload(file);
        }
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
        let place = BodyPlace::new(place, target.path());
        let uri = match self.options.path_as_is {
            true => target::with_path(target.uri, target::written_path(url))?,
            false => target.uri,
        };
        let uri = template.name_upload(uri)?;
        let uri = match self.options.body.query()? {
            Some(query) => {
                target::with_query(uri, &query).map_err(|failure| failure.with_code(exit::URL))?
            }
            None => uri,
        };
        self.options.redirects.check(&uri, false)?;
        let mut facts = Facts::new(uri.clone());
        (facts.given, facts.number) = (url.to_owned(), number);
        facts.note_fragment(url);
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

    async fn fetch(&self, fetch: &mut Fetch, tries: &mut Tries<'_>) -> Result<Tried, Failure> {
        let trace = Trace::start(self.options.verbose);
        let file = match &fetch.place.destination {
            Destination::File(path) => Some(self.options.output.in_folder(path.clone())),
            Destination::Stdout | Destination::RemoteName => None,
        };
        let from = resume::start(self.options.continue_at, file.as_deref())?;
        let from = fetch.template.start_at(self.options.continue_at, from)?;
        let mut written_heads = Vec::new();
        loop {
            let response = self.exchange(&trace, fetch, &mut written_heads).await?;
            let next = redirects::next(&fetch.uri, &response);
            fetch.facts.redirect_url = next.as_ref().map(|next| next.shown.clone());
            let next = match next {
                Some(next) if self.options.redirects.follows() => next,
                _ => {
                    if fetch.template.can_repeat()
                        && let Some(pause) = tries.behind_response(&response)
                    {
                        return Ok(Tried::Later(pause));
                    }
                    let conditions = &self.options.conditions;
                    let response = conditions.applied(&mut fetch.facts, response);
                    return self
                        .deliver(&trace, fetch, response, from, &written_heads)
                        .await
                        .map(|()| Tried::Done);
                }
            };
            let shown = next.shown;
            let (target, credentials) = match next.next {
                Ok(next) => next,
                Err(failure) => {
                    fetch.facts.redirect_url = None;
                    return Err(failure);
                }
            };
            let max = self.options.redirects.max_redirs;
            if fetch.facts.redirects >= max {
                self.write_refused(fetch, response.headers(), &written_heads)?;
                let text = format!(
                    "more than {max} redirects; the last leads to {}",
                    target.uri
                );
                return Err(Failure::new(exit::REDIRECTS, text));
            }
            fetch.facts.redirects += 1;
            fetch.facts.note_fragment(&shown);
            fetch.facts.redirect_url = None;
            self.options.redirects.check(&target.uri, true)?;
            self.options.url.check(credentials.as_deref())?;
            let credentials = self.credentials(&target, credentials);
            let (status, way) = (response.status(), (&fetch.uri, &target.uri));
            let redirects = &self.options.redirects;
            fetch.template.redirect(status, way, redirects);
            fetch.template.authenticate(credentials.as_deref())?;
            fetch.uri = target.uri;
            // The rest of a redirect's body: the connection can be used again where it is short.
            drop(response);
        }
    }

    /// The request of a URL, with its cookies.
    async fn request(&self, trace: &Trace, fetch: &mut Fetch) -> Result<Request<Body>, Failure> {
        let mut request = fetch.template.request(&self.client, &fetch.uri).await?;
        cookies::merge(&mut request, self.cookies.as_deref());
        trace.request(&request);
        Ok(request)
    }

    /// One request, and what -D, -i, -w and -v want of its response's head.
    async fn exchange(
        &self,
        trace: &Trace,
        fetch: &mut Fetch,
        written_heads: &mut Vec<u8>,
    ) -> Result<Response<Body>, Failure> {
        self.options.route.check(&fetch.uri)?;
        let request = self.request(trace, fetch).await?;
        let is_harmless = request.method().is_idempotent();
        (fetch.facts.url, fetch.facts.looked_up) = (fetch.uri.clone(), None);
        fetch.facts.method = request.method().to_string();
        fetch.facts.sent_bytes = sent_bytes(&request);
        fetch.facts.redirect_time = match fetch.facts.redirects {
            0 => Duration::ZERO,
            _ => fetch.facts.began.elapsed(),
        };
        let referer = request.headers().get(REFERER);
        fetch.facts.referer = referer.map_or(String::new(), |referer| {
            String::from_utf8_lossy(referer.as_bytes()).into_owned()
        });
        let interims = Interims::default();
        let asked = Instant::now();
        // While a body is sent, no byte of a response is due.
        let mut slow = self.options.slow.watch();
        slow.take_if(|_| !request.body().is_end_stream());
        let mut send = async |request| {
            let sent = interims.of(RequestBuilder::from_parts(&self.client, request));
            match &mut slow {
                Some(slow) => slow.next(sent.send()).await,
                None => Ok(sent.send().await),
            }
        };
        let authority = fetch
            .uri
            .authority()
            .map(ToString::to_string)
            .unwrap_or_default();
        let mut outcome = send(request).await?;
        if matches!(&outcome, Err(error) if error.kind() == ErrorKind::TransportClosed)
            && is_harmless
            && fetch.template.can_repeat()
            && self.answered.borrow_mut().remove(&authority)
        {
            // Its server may have ended a connection that was kept before the request came: another one is tried once, as by curl, though
            // not for a request that may have been processed and does harm twice (RFC 9110 section 9.2.2).
            outcome = send(self.request(trace, fetch).await?).await?;
        }
        let response = outcome.map_err(|error| exit::of(&trace.failed(error), false))?;
        self.answered.borrow_mut().insert(authority);
        trace.waits(&self.client);
        fetch.facts.looked_up = self.lookups.last();
        trace.response(&response);
        let (version, status) = (response.version(), response.status());
        let text = [interims.take(), head_text(&response)].concat();
        self.heads.borrow_mut().write(&text)?;
        written_heads.extend_from_slice(&text);
        fetch.facts.first_byte = Some(Instant::now());
        fetch.facts.head_bytes += text.len() as u64;
        let used = response.extensions().get::<ConnectionUse>();
        fetch.facts.note_connection(used, asked);
        fetch.facts.head = Some((version, status, response.headers().clone()));
        Ok(response)
    }
}

/// The length of a request's body; 0: it is not known.
fn sent_bytes(request: &Request<Body>) -> u64 {
    let by_field = || {
        let length = request.headers().get(CONTENT_LENGTH)?;
        length.to_str().ok()?.parse().ok()
    };
    let exact = request.body().size_hint().exact();
    exact.or_else(by_field).unwrap_or(0)
}
