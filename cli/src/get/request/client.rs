//! The client that the flags make.

use crate::failure::Failure;
use crate::get::exit;
use crate::get::options::GetOptions;
use crate::serve::key_log;
use std::sync::Arc;
use std::time::Duration;
use trunkline::client::{Client, ClientTimeouts, Jar, Protocols, RedirectPolicy};

/// All URLs of a command are fetched by it.
pub(in crate::get) fn client(
    options: &GetOptions,
    jar: Option<Arc<Jar>>,
) -> Result<Client, Failure> {
    let failure = |error| exit::of(&error, false);
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
    // 0 is no bound.
    let bound = |time: Option<Duration>| time.filter(|time| !time.is_zero());
    let timeouts = ClientTimeouts::default().with_total(bound(options.timeout));
    // The response of the server is shown as it is; -L and --compressed are carried out above the client.
    let client = Client::builder()
        .redirect(RedirectPolicy::none())
        .decompression(false)
        .protocols(protocols)
        .assume_http3(options.http3)
        .tls(tls)
        .connection_info(options.verbose || options.output.write_out.is_some())
        .timeouts(timeouts);
    let client = match bound(options.connect_timeout) {
        Some(time) => client.connect_timeout(time),
        None => client,
    };
    let client = match jar {
        Some(jar) => client.cookie_provider(jar),
        None => client,
    };
    let client = match options.retries.policy() {
        Some(policy) => client.retry(policy),
        None => client,
    };
    let client = match &options.qlog {
        Some(path) => client.qlog(path).map_err(failure)?,
        None => client,
    };
    options.route.apply(client)?.build().map_err(failure)
}
