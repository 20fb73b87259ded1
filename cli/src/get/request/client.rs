//! The client that the flags make.

use crate::failure::Failure;
use crate::get::cookies::KeptCookies;
use crate::get::exit;
use crate::get::options::GetOptions;
use crate::get::request::AGENT;
use crate::serve::key_log;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use trunkline::client::{
    Client, ClientTimeouts, DnsResolver, Protocols, RedirectPolicy, Resolver, Resolving,
    ResolvingRecord,
};

/// When a name was last looked up, for -w.
#[derive(Clone, Default)]
pub(in crate::get) struct Lookups(Arc<Mutex<Option<Instant>>>);

impl Lookups {
    /// When the last one ended.
    pub(in crate::get) fn last(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

/// The resolver of the default, watched.
struct Watched {
    resolver: DnsResolver,
    lookups: Lookups,
}

impl Resolver for Watched {
    fn resolve(&self, host: &str, port: u16) -> Resolving {
        let (resolving, lookups) = (self.resolver.resolve(host, port), self.lookups.clone());
        Box::pin(async move {
            let resolved = resolving.await;
            lookups.end();
            resolved
        })
    }
    fn https_record(&self, host: &str, port: u16) -> ResolvingRecord {
        self.resolver.https_record(host, port)
    }
}

/// All URLs of a command are fetched by it.
pub(in crate::get) fn client(
    options: &GetOptions,
    cookies: Option<Arc<KeptCookies>>,
    lookups: Lookups,
) -> Result<Client, Failure> {
    let failure = |error| exit::of(&error, false);
    let tls = options.tls.client_tls();
    let mut tls = tls.map_err(|(part, error)| exit::of_tls_file(part, &error))?;
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
    // 0 is no bound.
    let bound = |time: Option<Duration>| time.filter(|time| !time.is_zero());
    let timeouts = ClientTimeouts::default().with_total(bound(options.timeout));
    // As with curl, 0 is the time of the default.
    let timeouts = match bound(options.expect100_timeout) {
        Some(time) => timeouts.with_expect(Some(time)),
        None => timeouts,
    };
    // The response of the server is shown as it is; -L, --retry and --compressed are carried out above the client.
    let client = Client::builder()
        .redirect(RedirectPolicy::none())
        .decompression(false)
        .spelled_names(true)
        .protocols(protocols)
        .assume_http3(options.http3)
        .tls(tls)
        .resolver(Watched {
            resolver: DnsResolver::new(),
            lookups,
        })
        .connection_info(options.verbose || options.output.write_out.is_some())
        .timeouts(timeouts);
    let client = match bound(options.connect_timeout) {
        Some(time) => client.connect_timeout(time),
        None => client,
    };
    let client = match cookies {
        Some(cookies) => client.cookie_provider(cookies),
        None => client,
    };
    let client = match &options.qlog {
        Some(path) => client.qlog(path).map_err(failure)?,
        None => client,
    };
    let agent = options.user_agent.as_deref().unwrap_or(AGENT);
    options.route.apply(client, agent)?.build().map_err(failure)
}
