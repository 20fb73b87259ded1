//! Matches a certificate against a host name by the rules of Node.js's `tls.checkServerIdentity`.

use super::certificate::{Names, printable};
use rustls::pki_types::ServerName;
use std::net::IpAddr;

/// `Err`: why the certificate is not for the host, in the words of Node.js.
///
/// A subject's CN counts where the certificate has no DNS name in `subjectAltName`, as with Node.js and not with
/// RFC 9525, because certificates of private authorities still have nothing else. An address is never looked
/// for in CN.
pub(super) fn check(names: &Names, host: &ServerName<'_>, cn_counts: bool) -> Result<(), String> {
    let host = match host {
        ServerName::DnsName(name) => name.as_ref().trim_end_matches('.').to_ascii_lowercase(),
        ServerName::IpAddress(address) => return check_address(names, IpAddr::from(*address)),
        _ => return Err("the server's name is neither a host name nor an address".to_owned()),
    };
    if !names.dns.is_empty() {
        return match names.dns.iter().any(|pattern| matches(&host, pattern)) {
            true => Ok(()),
            false => Err(format!(
                "Host: {host}. is not in the cert's altnames: {}",
                names.listed.join(", ")
            )),
        };
    }
    if names.common.is_empty() || !cn_counts {
        return Err("Cert does not contain a DNS name".to_owned());
    }
    match names.common.iter().any(|pattern| matches(&host, pattern)) {
        true => Ok(()),
        false => Err(format!(
            "Host: {host}. is not cert's CN: {}",
            printable(&names.common.join(","))
        )),
    }
}

fn check_address(names: &Names, address: IpAddr) -> Result<(), String> {
    if names.addresses.contains(&address) {
        return Ok(());
    }
    let list: Vec<String> = names.addresses.iter().map(IpAddr::to_string).collect();
    Err(format!(
        "IP: {address} is not in the cert's list: {}",
        list.join(", ")
    ))
}

/// A pattern of a certificate against a host in lower case. A wildcard stands for characters of the first label
/// only, and only where at least two labels follow it.
fn matches(host: &str, pattern: &str) -> bool {
    let pattern = pattern.trim_end_matches('.').to_ascii_lowercase();
    let is_plain = |text: &str| text.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    if !is_plain(&pattern) {
        return false;
    }
    let (host, pattern): (Vec<_>, Vec<_>) =
        (host.split('.').collect(), pattern.split('.').collect());
    if host.len() != pattern.len() || pattern.contains(&"") {
        return false;
    }
    if host[1..] != pattern[1..] {
        return false;
    }
    let (first, wanted) = (host[0], pattern[0]);
    let parts: Vec<_> = wanted.split('*').collect();
    match parts[..] {
        [_] => first == wanted,
        // RFC 6125 section 6.4.3: not within an internationalised label.
        [_, _] if wanted.contains("xn--") => first == wanted,
        [prefix, suffix] => {
            let has_room = prefix.len() + suffix.len() <= first.len();
            pattern.len() > 2 && has_room && first.starts_with(prefix) && first.ends_with(suffix)
        }
        _ => false,
    }
}

#[cfg(test)]
#[path = "names_test.rs"]
mod names_test;
