//! Listening sockets that pass from process to process, by what is served on them.

use super::listen_address::ListenAddress;
use crate::serve::ServeOptions;
use std::net::{SocketAddr, ToSocketAddrs as _};
use trunkline::server::Sockets;

/// Listening sockets by what is served on them.
#[derive(Debug, Default)]
pub(super) struct SocketsByUse {
    pub(super) site: Option<Sockets>,
    pub(super) admin: Option<Sockets>,
    /// Redirects to https.
    pub(super) redirect: Option<Sockets>,
}

impl SocketsByUse {
    /// Sorts those that one process passes to another, which come without names: the site's first, then those of the admin
    /// address and of redirects, if there are any, which are known by the addresses that `options` has for them.
    pub(super) fn received(all: Vec<Sockets>, options: &ServeOptions) -> Self {
        let mut all = all.into_iter();
        let mut sorted = Self {
            site: all.next(),
            ..Self::default()
        };
        let redirect = options.redirect_from.as_deref().and_then(first_address);
        let admin = options.operate.admin.as_ref();
        for one in all {
            if redirect.is_some() && one.local_addr() == redirect {
                sorted.redirect = Some(one);
            } else if admin.is_some_and(|wanted| is_at(&one, wanted)) {
                sorted.admin = Some(one);
            }
        }
        sorted
    }
    /// In the order in which they are passed.
    pub(super) fn into_vec(self) -> Vec<Sockets> {
        let all = [self.site, self.admin, self.redirect];
        all.into_iter().flatten().collect()
    }
}

/// Whether sockets of the admin address are where it is wanted; port 0 is any.
fn is_at(sockets: &Sockets, wanted: &ListenAddress) -> bool {
    match (wanted, sockets.local_addr()) {
        (ListenAddress::Unix(_), has) => has.is_none(),
        (ListenAddress::Port(wanted), Some(has)) => {
            first_address(wanted).is_some_and(|wanted| wanted.port() == 0 || wanted == has)
        }
        (ListenAddress::Port(_), None) => false,
    }
}

pub(super) fn first_address(text: &str) -> Option<SocketAddr> {
    text.to_socket_addrs().ok()?.next()
}
