//! Upgrades as axum's extractors look for them, for the handlers of [`serve`](crate::serve): with the
//! feature `hyper-upgrade`.

#[cfg(feature = "hyper-upgrade")]
use crate::upgrade::{ForHyper, for_hyper};

/// Whether handlers get them.
pub(super) const HAS_UPGRADES: bool = cfg!(feature = "hyper-upgrade");

/// A service whose requests have them.
#[cfg(feature = "hyper-upgrade")]
pub(super) type Upgrading<S> = ForHyper<S>;
/// The service as it is.
#[cfg(not(feature = "hyper-upgrade"))]
pub(super) type Upgrading<S> = S;

#[cfg(feature = "hyper-upgrade")]
pub(super) fn upgrading<S>(service: S) -> Upgrading<S> {
    for_hyper(service)
}
#[cfg(not(feature = "hyper-upgrade"))]
pub(super) fn upgrading<S>(service: S) -> Upgrading<S> {
    service
}
