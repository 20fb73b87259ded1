//! The name servers that the system is configured with, read again as its settings change.

use super::resolver;
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::RecordType;
use hickory_resolver::system_conf::read_system_conf;
use hickory_resolver::{Hosts, TokioResolver};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Settings older than this are read again before they are used: a few microseconds for /etc/resolv.conf.
const SETTINGS_AGE_MAX: Duration = Duration::from_secs(10);

/// The system's name servers.
#[derive(Default)]
pub(super) struct SystemServers {
    current: Mutex<Option<Arc<Current>>>,
}

/// Settings as they were read.
pub(super) struct Current {
    resolver: TokioResolver,
    hosts: Hosts,
    /// The settings as text: the library's types cannot be compared.
    settings: String,
    read_at: Instant,
}

impl SystemServers {
    /// The settings of now, or of 10 s ago.
    pub(super) async fn current(&self) -> io::Result<Arc<Current>> {
        let known = self.lock().clone();
        if let Some(known) = &known
            && known.read_at.elapsed() < SETTINGS_AGE_MAX
        {
            return Ok(Arc::clone(known));
        }
        // Reads files, on some systems the registry.
        let read = tokio::task::spawn_blocking(move || read(known.as_deref()));
        let read = Arc::new(read.await.map_err(io::Error::other)??);
        *self.lock() = Some(Arc::clone(&read));
        Ok(read)
    }
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Current>>> {
        // No code panics while it holds the lock.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Current {
    pub(super) fn resolver(&self) -> TokioResolver {
        self.resolver.clone()
    }
    /// Whether the hosts file gives `host` an address: then what DNS says of it does not count.
    pub(super) fn hosts_file_has(&self, host: &str) -> bool {
        super::absolute(host).is_ok_and(|name| {
            [RecordType::A, RecordType::AAAA].into_iter().any(|kind| {
                let query = Query::query(name.clone(), kind);
                self.hosts.lookup_static_host(&query).is_some()
            })
        })
    }
}

/// Reads the settings; where they are the `known` ones its resolver stays, and with it the responses that it
/// keeps.
fn read(known: Option<&Current>) -> io::Result<Current> {
    let (config, options) = read_system_conf().map_err(io::Error::other)?;
    let settings = format!("{config:?} {options:?}");
    let resolver = match known {
        Some(known) if known.settings == settings => known.resolver(),
        _ => resolver(config, options)?,
    };
    Ok(Current {
        resolver,
        // A system without a hosts file has no names in it.
        hosts: Hosts::from_system().unwrap_or_default(),
        settings,
        read_at: Instant::now(),
    })
}
