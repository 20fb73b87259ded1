//! The flags of `get`: letters and names of curl, for what is here.

use super::body::BodyOptions;
use super::cookies::CookieOptions;
use super::given::{self, seconds};
use super::output::conditions::ConditionOptions;
use super::output::{OutputOptions, pace, resume};
use super::refused::RefusedFlags;
use super::route::RouteOptions;
use super::route::netrc::NetrcOptions;
use super::route::redirects::RedirectOptions;
use super::route::retries::RetryOptions;
use super::route::slow::SlowOptions;
use super::route::url::UrlOptions;
use crate::tls_options::TlsOptions;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use http::StatusCode;
use std::path::PathBuf;
use std::time::Duration;

/// URLs at once with `-Z` where `--parallel-max` sets no other number (curl's).
const PARALLEL_MAX: u16 = 50;

/// Flags of curl for what is so in any case.
const AS_CURL: [&str; 12] = [
    "basic",
    "no-keepalive",
    "no-styled-output",
    "proxy-basic",
    "ssl",
    "ssl-reqd",
    "tcp-fastopen",
    "tcp-nodelay",
    "tlsv1",
    "tlsv1.0",
    "tlsv1.1",
    "trace-time",
];

/// Flags of `get`. As with curl, a flag that is given twice counts as it was given last.
#[derive(Args)]
#[command(args_override_self = true)]
pub(crate) struct GetOptions {
    #[command(flatten)]
    pub(super) urls: Urls,
    /// Flags out of this file (`-` for standard input), a line each, as `output = page.html` or `-o page.html`; they
    /// stand where the file is named. May be repeated.
    #[arg(short = 'K', long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// A variable: `name=text`, `name@FILE`, or `%name` of the environment. Behind it, `{{name}}` stands for it in the value of each
    /// flag that has `--expand-` in front of its name, as in `--expand-data '{"a":"{{name:json}}"}'`; functions are trim, json,
    /// url, b64 and 64dec. May be repeated.
    #[arg(long, value_name = "NAME=TEXT")]
    variable: Vec<String>,
    /// The flags and URLs behind it are those of a request of its own; -s, -S, -v, -Z, --fail-early and --stderr are for all.
    #[arg(long, short = ':', action = ArgAction::Count)]
    next: u8,
    /// Show the request, the answer's head, the connection with its addresses and whether it is new,
    /// and when each frame came.
    #[arg(short, long)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) output: OutputOptions,
    /// A request field, `name: value`, `name;` for one without a value, or @FILE for a line each. May be repeated.
    #[arg(short = 'H', long = "header", value_name = "FIELD")]
    pub(super) headers: Vec<String>,
    #[command(flatten)]
    pub(super) body: BodyOptions,
    /// HEAD: write the answer's head alone.
    #[arg(short = 'I', long, conflicts_with_all = ["form", "form-string", "upload_file"])]
    pub(super) head: bool,
    /// Basic authentication, `user:password`; also as `http://user:password@host/`.
    #[arg(short, long)]
    pub(super) user: Option<String>,
    #[command(flatten)]
    pub(super) netrc: NetrcOptions,
    /// Authentication by a bearer token, also beside -u.
    #[arg(long, value_name = "TOKEN")]
    pub(super) oauth2_bearer: Option<String>,
    /// The field user-agent; an empty name sends none.
    #[arg(short = 'A', long, value_name = "NAME")]
    pub(super) user_agent: Option<String>,
    /// The field referer; with `;auto` behind it redirects name the URL that led there.
    #[arg(short = 'e', long, value_name = "URL")]
    pub(super) referer: Option<String>,
    #[command(flatten)]
    pub(super) cookies: CookieOptions,
    /// Go on where the file of -o or -O ends (`-`), or at this offset in bytes; the file stays as it is where
    /// the server gives no such part.
    #[arg(short = 'C', long, value_name = "OFFSET", value_parser = resume::offset)]
    pub(super) continue_at: Option<resume::Offset>,
    /// Ask for these bytes alone: `0-99`, `100-`, `-50`.
    #[arg(
        short,
        long,
        conflicts_with = "continue_at",
        allow_hyphen_values = true
    )]
    pub(super) range: Option<String>,
    #[command(flatten)]
    pub(super) conditions: ConditionOptions,
    #[command(flatten)]
    pub(super) retries: RetryOptions,
    /// The method, of redirected requests too.
    #[arg(short = 'X', long = "request")]
    pub(super) method: Option<String>,
    /// Only HTTP/1.1.
    #[arg(long = "http1.1", conflicts_with = "http2")]
    pub(super) http1: bool,
    /// Only HTTP/2 (on http:// by prior knowledge).
    #[arg(long, alias = "http2-prior-knowledge")]
    pub(super) http2: bool,
    /// Try HTTP/3 first; where nothing answers over QUIC within 200 ms, HTTP/2 and HTTP/1.1 beside it.
    #[arg(long, conflicts_with_all = ["http1", "http2"])]
    pub(super) http3: bool,
    /// HTTP/3 only: QUIC, no TCP.
    #[arg(long, conflicts_with_all = ["http1", "http2"])]
    pub(super) http3_only: bool,
    /// Write the frames of HTTP/2 and HTTP/3, and what becomes of HTTP/3's packets, to this file (qlog), which qvis
    /// opens if its name ends in `.sqlog`.
    #[arg(long, visible_alias = "trace", value_name = "FILE")]
    pub(super) qlog: Option<PathBuf>,
    #[command(flatten)]
    pub(super) redirects: RedirectOptions,
    /// Exit with 22 when the status is 400 or more, and write no body.
    #[arg(short, long)]
    pub(super) fail: bool,
    /// As -f, but write the body.
    #[arg(long, conflicts_with = "fail")]
    pub(super) fail_with_body: bool,
    /// With --compressed: write the body as it comes.
    #[arg(long)]
    raw: bool,
    /// Ask for compression, and write the body without it. Without this flag a body is written as it comes.
    #[arg(long)]
    pub(super) compressed: bool,
    /// Send the path as it is written, `..` too.
    #[arg(long)]
    pub(super) path_as_is: bool,
    /// The target in the request line (:path), in place of the URL's path and query: `*` with -X OPTIONS.
    #[arg(long, value_name = "TARGET")]
    pub(super) request_target: Option<String>,
    /// Take { } and [ ] in URLs as they are, and not as patterns.
    #[arg(short, long)]
    pub(super) globoff: bool,
    #[command(flatten)]
    pub(super) url: UrlOptions,
    #[command(flatten)]
    pub(super) tls: TlsOptions,
    /// Seconds for all of a URL, as 2.5.
    #[arg(short = 'm', long = "max-time", alias = "timeout", value_name = "SECONDS", value_parser = seconds)]
    pub(super) timeout: Option<Duration>,
    /// Seconds for a connection to open, of the 10 that it may take.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) connect_timeout: Option<Duration>,
    /// Seconds for which the body of a request with `-H 'expect: 100-continue'` waits for the answer 100, in place of 1.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) expect100_timeout: Option<Duration>,
    /// Bytes per second at which a body is read, as 1000, 100K or 2M.
    #[arg(long, value_name = "RATE", value_parser = pace::rate)]
    pub(super) limit_rate: Option<u64>,
    #[command(flatten)]
    pub(super) slow: SlowOptions,
    /// Fetch no further URL behind one that failed.
    #[arg(long)]
    pub(super) fail_early: bool,
    /// Fetch all URLs at once and not one after the other.
    #[arg(short = 'Z', long)]
    pub(super) parallel: bool,
    /// With -Z: URLs at once at most.
    #[arg(long, value_name = "NUMBER", default_value_t = PARALLEL_MAX, value_parser = clap::value_parser!(u16).range(1..=300))]
    pub(super) parallel_max: u16,
    #[command(flatten)]
    pub(super) route: RouteOptions,
    /// For command lines of curl: there is no file of settings, -u and -U are basic authentication, TLS is of 1.2 and newer, small
    /// packets are not held back, and heads have no colours.
    #[arg(short = 'q', long = "disable", aliases = AS_CURL, short_alias = '1', action = ArgAction::Count)]
    as_curl: u8,
    #[command(flatten)]
    refused: RefusedFlags,
}

impl GetOptions {
    /// Whether content codings are taken off a body.
    pub(super) fn decodes(&self) -> bool {
        self.compressed && !self.raw
    }
    /// Whether an answer of this status is written to its file: behind a 304 that stays as it is, and none is made,
    /// unless the head goes there.
    pub(super) fn writes(&self, status: StatusCode) -> bool {
        status != StatusCode::NOT_MODIFIED || self.output.include || self.head
    }
}

/// Gives the flags that are meant for a whole call to each of its requests.
pub(super) fn share(all: &mut [GetOptions]) {
    let any = |is_set: fn(&GetOptions) -> bool, all: &[GetOptions]| all.iter().any(is_set);
    let verbose = any(|options| options.verbose, all);
    let fail_early = any(|options| options.fail_early, all);
    let parallel = any(|options| options.parallel, all);
    let output = OutputOptions::shared(all.iter().map(|options| &options.output));
    for options in all {
        options.verbose = verbose;
        options.fail_early = fail_early;
        options.parallel = parallel;
        options.output.share(output);
    }
}

/// The URLs, in the order of the command line.
#[derive(Clone, Debug, Default)]
pub(super) struct Urls(pub(super) Vec<String>);

impl Args for Urls {
    fn augment_args(command: Command) -> Command {
        let urls = Arg::new("urls")
            .value_name("URL")
            .action(ArgAction::Append)
            .num_args(1..)
            .required_unless_present("url")
            .help("The URLs to fetch, one after the other; one without a scheme is http://. {a,b} and [1-9] in it make several");
        let url = Arg::new("url").long("url").value_name("URL");
        command.args([urls, url.action(ArgAction::Append).help("A further URL")])
    }
    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Urls {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = given::values(matches, &[((), "urls"), ((), "url")]);
        Ok(Self(given.into_iter().map(|((), url)| url).collect()))
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
