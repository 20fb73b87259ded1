//! Listening sockets that another process has opened: the server before this one (`--upgrade`), or a service
//! manager.

use super::sockets::{SocketsByUse, first_address, is_at};
use super::upgrade::previous_at;
use crate::failure::Failure;
use crate::serve::ServeOptions;
use crate::serve::listeners::{ListenTable, others};
use crate::system::{PreviousServer, Sockets, path_of};
use std::path::{PathBuf, absolute};

/// The sockets that a server was given, by which it need not open its own.
#[derive(Debug, Default)]
pub(crate) struct GivenSockets {
    sockets: SocketsByUse,
    previous: Option<PreviousServer>,
}

/// Serves with the sockets for these options; the server before learns why, if that fails.
pub(crate) fn with_given<T>(
    options: &ServeOptions,
    serve: impl FnOnce(GivenSockets) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let given = GivenSockets::of(options)?;
    let previous = given.previous.clone();
    let served = given.check(options).and_then(|()| serve(given));
    if let (Err(why), Some(previous)) = (&served, previous) {
        previous.report_failed(&why.to_string());
    }
    served
}

impl GivenSockets {
    /// Those for a server with these options, if there are any.
    fn of(options: &ServeOptions) -> Result<Self, Failure> {
        let upgrade = options.operate.upgrade.as_deref();
        let Some((previous, all)) = upgrade.map(previous_at).transpose()?.flatten() else {
            return Ok(Self {
                sockets: of_manager()?,
                previous: None,
            });
        };
        Ok(Self {
            sockets: SocketsByUse::received(all, options),
            previous: Some(previous),
        })
    }
    /// Whether they are where this server is to listen: a service manager's are, whatever --listen says.
    fn check(&self, options: &ServeOptions) -> Result<(), Failure> {
        let SocketsByUse {
            site,
            admin,
            redirect,
            ..
        } = &self.sockets;
        if let Some(site) = site
            && self.previous.is_some()
        {
            return fits(site, options);
        }
        if admin.is_some() && options.operate.admin.is_none() {
            return Err(Failure::usage(
                "LISTEN_FDNAMES names a socket admin, and there is no admin address; add --admin, or name the socket otherwise",
            ));
        }
        if redirect.is_some() && !others(options).iter().any(|table| table.redirect) {
            return Err(Failure::usage(
                "LISTEN_FDNAMES names a socket redirect, and nothing is redirected; add --redirect-from, or name the socket otherwise",
            ));
        }
        let has_tls = options.tls_cert.is_some() || options.tls_self_signed;
        match site {
            Some(site) if site.have_udp() && (!has_tls || options.no_http3) => Err(Failure::usage(
                "there is a UDP socket among LISTEN_FDS, which HTTP/3 alone reads; serve under TLS and without --no-http3, or take the \
                 socket out of the unit",
            )),
            _ => Ok(()),
        }
    }
    /// The path of the Unix socket to serve on; `None`: a port.
    pub(crate) fn unix(&self, options: &ServeOptions) -> Option<PathBuf> {
        let site = self.sockets.site.as_ref();
        let given = site.filter(|site| site.are_unix());
        let path = given.and_then(path_of).or_else(|| options.unix.clone());
        path.or_else(|| given.map(|_| PathBuf::from("a Unix socket")))
    }
    /// The sockets of the site, for one start of several; `None`: it opens its own.
    pub(crate) fn site(&self) -> Result<Option<Sockets>, Failure> {
        let site = self.sockets.site.as_ref().map(Sockets::try_clone);
        site.transpose()
            .map_err(|error| Failure::usage(format_args!("a socket cannot be duplicated: {error}")))
    }
    pub(super) fn take_admin(&mut self) -> Option<Sockets> {
        self.sockets.admin.take()
    }
    /// Those of a table.
    pub(crate) fn take_other(&mut self, table: &ListenTable) -> Option<Sockets> {
        if table.redirect && self.sockets.redirect.is_some() {
            return self.sockets.redirect.take();
        }
        let others = &mut self.sockets.others;
        let wanted = table.address.as_ref()?;
        let at = others.iter().position(|other| is_at(other, wanted));
        at.map(|at| others.swap_remove(at))
    }
    /// HTTP/3 is not served here.
    pub(crate) fn leave_udp(&mut self) {
        let site = &mut self.sockets.site;
        *site = site.take().map(Sockets::without_udp);
    }
    /// Requests are answered here: the server before may drain. True: there is one.
    pub(super) fn report_serving(&self) -> bool {
        let site = self.sockets.site.as_ref();
        let http3 = site.is_none_or(Sockets::have_udp);
        let previous = self.previous.as_ref();
        previous.is_some_and(|previous| {
            previous.report_serving(http3);
            true
        })
    }
}

/// Those that a service manager has opened.
fn of_manager() -> Result<SocketsByUse, Failure> {
    #[cfg(unix)]
    return super::activation::sockets();
    #[cfg(not(unix))]
    Ok(SocketsByUse::default())
}

/// Whether sockets of another process are where this one is to listen.
fn fits(site: &Sockets, options: &ServeOptions) -> Result<(), Failure> {
    let differs = |flag: &str, wanted: String, has: String| {
        Err(Failure::usage(format_args!(
            "{flag} is {wanted}, and the server whose place this one is to take listens on {has}"
        )))
    };
    let path = path_of(site);
    match (&options.unix, site.local_addr()) {
        (Some(wanted), Some(has)) => {
            differs("--unix", wanted.display().to_string(), has.to_string())
        }
        (Some(wanted), None) => match path {
            Some(has) if absolute(&has).ok() != absolute(wanted).ok() => differs(
                "--unix",
                wanted.display().to_string(),
                has.display().to_string(),
            ),
            _ => Ok(()),
        },
        (None, None) => {
            let has = path.map_or("a Unix socket".to_owned(), |path| {
                path.display().to_string()
            });
            differs("--listen", options.listen.clone(), has)
        }
        (None, Some(has)) => match first_address(&options.listen) {
            Some(wanted) if wanted.port() != 0 && wanted != has => {
                differs("--listen", wanted.to_string(), has.to_string())
            }
            _ => Ok(()),
        },
    }
}
