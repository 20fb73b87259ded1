//! Listening sockets that pass from process to process, by what is served on them.

use crate::serve::ServeOptions;
use crate::serve::listeners::ListenAddress;
use crate::serve::listeners::others;
use crate::system::{Sockets, path_of};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::absolute;

/// Listening sockets by what is served on them.
#[derive(Debug, Default)]
pub(super) struct SocketsByUse {
    pub(super) site: Option<Sockets>,
    pub(super) admin: Option<Sockets>,
    /// Redirects to https, of a service manager.
    pub(super) redirect: Option<Sockets>,
    /// Those of the addresses beside the site's first.
    pub(super) others: Vec<Sockets>,
}

impl SocketsByUse {
    /// Sorts those that one process passes to another, which come without names: the site's first, then those of the admin
    /// address and of others, if there are any, which are known by the addresses that `options` has for them.
    pub(super) fn received(all: Vec<Sockets>, options: &ServeOptions) -> Self {
        let mut all = all.into_iter();
        let mut sorted = Self {
            site: all.next(),
            ..Self::default()
        };
        let wanted = others(options);
        let admin = options.operate.admin.as_ref();
        for one in all {
            let is_other = (wanted.iter())
                .filter_map(|table| table.address.as_ref())
                .any(|wanted| is_at(&one, wanted));
            if is_other {
                sorted.others.push(one);
            } else if admin.is_some_and(|wanted| is_admins(&one, wanted)) {
                sorted.admin = Some(one);
            }
        }
        sorted
    }
    /// In the order in which they are passed.
    #[cfg(unix)]
    pub(super) fn into_vec(self) -> Vec<Sockets> {
        let all = [self.site, self.admin];
        all.into_iter().flatten().chain(self.others).collect()
    }
}

/// Whether sockets are at this address.
pub(super) fn is_at(sockets: &Sockets, wanted: &ListenAddress) -> bool {
    match wanted {
        ListenAddress::Unix(wanted) => {
            let has = path_of(sockets);
            has.is_some_and(|has| absolute(has).ok() == absolute(wanted).ok())
        }
        ListenAddress::Port(wanted) => {
            let has = sockets.local_addr();
            has.is_some() && has == first_address(wanted)
        }
    }
}

/// Whether sockets of the admin address are where it is wanted; port 0 is any.
fn is_admins(sockets: &Sockets, wanted: &ListenAddress) -> bool {
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
