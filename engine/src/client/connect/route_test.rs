//! The environment's proxies as a default.

use super::Route;
use crate::client::connect::proxy::Proxy;
use std::ffi::OsString;
use std::sync::Arc;
use trunkline_core::pool::{Origin, Protocols, Scheme};

fn variables(name: &str) -> Option<OsString> {
    let value = match name {
        "https_proxy" => "http://proxy.example:3128",
        "no_proxy" => "inside.example",
        _ => return None,
    };
    Some(value.into())
}

/// The proxy of an `https` origin with this host.
fn proxy_of(route: &Route, host: &str) -> Option<String> {
    let mut origin = Origin::new(Scheme::Https, host, 443, Protocols::H2AndH1);
    route.complete(&mut origin);
    let proxy = route.proxy_for(&origin);
    proxy.map(|proxy| proxy.host.clone().into())
}

#[test]
fn the_environments_proxies_are_taken_where_nothing_else_is_set() {
    let mut route = Route::default();
    route.read_environment(variables);
    assert_eq!(
        proxy_of(&route, "a.example").as_deref(),
        Some("proxy.example")
    );
    for host in [
        "inside.example",
        "localhost",
        "127.0.0.1",
        "127.8.9.1",
        "::1",
    ] {
        assert_eq!(proxy_of(&route, host), None, "{host}");
    }
    let mut http = Origin::new(Scheme::Http, "a.example", 80, Protocols::H2AndH1);
    route.complete(&mut http);
    assert!(route.proxy_for(&http).is_none());
}

#[test]
fn an_origin_whose_proxy_was_taken_out_is_reached_directly() {
    let mut route = Route::default();
    route.read_environment(variables);
    let mut origin = Origin::new(Scheme::Https, "a.example", 443, Protocols::H2AndH1);
    route.complete(&mut origin);
    assert!(route.proxy_for(&origin).is_some());
    origin.proxy = None;
    assert!(route.proxy_for(&origin).is_none());
}

#[test]
fn settings_take_the_place_of_the_environment() {
    let mut off = Route {
        environment: false,
        ..Route::default()
    };
    off.read_environment(variables);
    assert_eq!(proxy_of(&off, "a.example"), None);
    let given = Proxy::parse("proxy", "http://given.example").unwrap();
    let mut set = Route {
        proxy_given: true,
        ..Route::default()
    };
    set.proxies.for_https = Some(Arc::new(given));
    set.read_environment(variables);
    assert_eq!(
        proxy_of(&set, "a.example").as_deref(),
        Some("given.example")
    );
    assert_eq!(
        proxy_of(&set, "localhost").as_deref(),
        Some("given.example")
    );
}

#[test]
fn an_environment_that_cannot_be_used_is_an_error_that_names_the_variable() {
    let mut route = Route::default();
    route.read_environment(|name| (name == "https_proxy").then(|| "ftp://x".into()));
    let error = route.check().unwrap_err();
    assert!(error.to_string().contains("https_proxy"), "{error}");
}
