//! Encodes the facts of connections and requests for JavaScript; `node/src/server/bridge.ts` splits
//! them again.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use std::net::SocketAddr;
use trunkline::core::http::{RequestHead, Token};
use trunkline::{CertificateFault, ConnectionInfo};

/// A request's head as JavaScript splits it: a name is found by the line feed before it and the
/// zero behind it, which no value holds.
pub(crate) fn write_head(text: &mut Vec<u8>, head: &RequestHead) {
    text.clear();
    text.extend_from_slice(head.method());
    for part in [
        head.path(),
        head.authority(),
        head.scheme(),
        head.protocol(),
    ] {
        text.push(0);
        text.extend_from_slice(part.unwrap_or_default());
    }
    write_order(text, head);
    let mut is_sensitive = false;
    for field in head.fields() {
        text.push(b'\n');
        text.extend_from_slice(field.name);
        text.push(0);
        text.extend_from_slice(field.value);
        is_sensitive |= field.sensitive;
    }
    if is_sensitive {
        let sensitive = head.fields().filter(|field| field.sensitive);
        write_names(text, sensitive.map(|field| field.name));
    } else {
        write_names(text, head.section().spellings());
    }
}

/// The pseudo-header fields as the client sent them, a letter for each: not all do it in the order
/// of the parts before, and an authority may be that of the host field.
fn write_order(text: &mut Vec<u8>, head: &RequestHead) {
    let sent = head.section().iter();
    let letters = sent.map_while(|field| field.token.and_then(letter));
    let is_sent = |usual: &&[u8]| letters.clone().eq(usual.iter().copied());
    if !USUAL_ORDERS.iter().any(is_sent) {
        text.push(0);
        text.extend(letters);
    }
}

/// Orders of the pseudo-fields of HTTP/2 and HTTP/3, and of HTTP/1.1, which has no scheme.
const USUAL_ORDERS: [&[u8]; 2] = [b"masp", b"mp"];

/// The letter of a pseudo-header field, as in `node/src/http2/fields.ts`.
fn letter(token: Token) -> Option<u8> {
    Some(match token {
        Token::METHOD => b'm',
        Token::AUTHORITY => b'a',
        Token::SCHEME => b's',
        Token::PATH => b'p',
        Token::PROTOCOL => b'o',
        _ => return None,
    })
}

/// Behind the fields: how the names of all are spelled on HTTP/1.1, which has no sensitive fields;
/// which are sensitive on the others, where names are in lower case.
fn write_names<'a>(text: &mut Vec<u8>, mut names: impl Iterator<Item = &'a [u8]>) {
    let Some(first) = names.next() else {
        return;
    };
    text.extend_from_slice(b"\n\0");
    text.extend_from_slice(first);
    for name in names {
        text.push(b',');
        text.extend_from_slice(name);
    }
}

/// The lengths of method, path and authority in 6, 16 and 10 bits; 0 where they do not fit.
pub(crate) fn lengths(head: &RequestHead) -> u32 {
    let length = |part: Option<&[u8]>| part.map_or(0, <[u8]>::len);
    let method = head.method().len();
    let (path, authority) = (length(head.path()), length(head.authority()));
    if method >= 1 << 6 || path >= 1 << 16 || authority >= 1 << 10 {
        return 0;
    }
    (authority << 22 | path << 6 | method) as u32
}

/// The name of a certificate's fault, as in `node/src/server/tls/clients.ts`, or OpenSSL's code.
pub(crate) fn word(fault: &CertificateFault) -> &'static str {
    match fault {
        CertificateFault::UnknownIssuer => "issuer",
        CertificateFault::Expired => "expired",
        CertificateFault::NotYetValid => "early",
        CertificateFault::Revoked => "revoked",
        CertificateFault::RevocationUnknown => "unlisted",
        CertificateFault::Signature => "signature",
        CertificateFault::Purpose => "purpose",
        CertificateFault::Openssl(refusal) => refusal.code(),
        _ => "other",
    }
}

/// A connection's facts for JavaScript: both addresses, the TLS parameters, the fault of the
/// client's certificates, and these in Base64.
pub(crate) fn described(info: &ConnectionInfo) -> String {
    let mut text = places(info.peer_addr().zip(info.local_addr()));
    if let Some(tls) = info.tls() {
        let alpn = String::from_utf8_lossy(tls.alpn().unwrap_or_default());
        let name = tls.server_name().unwrap_or_default();
        let suite = tls.cipher_suite().unwrap_or_default();
        let session = match tls.is_resumed() {
            Some(true) => "resumed",
            Some(false) => "new",
            None => "",
        };
        text += &format!("\0{} {suite} {session}\0{alpn}\0{name}", tls.protocol());
        if let Some(client) = tls.client() {
            text.push('\0');
            text += client.fault().map_or("", word);
            for certificate in client.certificates() {
                text.push('\0');
                text += &BASE64_STANDARD.encode(certificate);
            }
        }
    }
    text
}

/// The peer's address and ours; `None`: nothing in their places.
pub(crate) fn places(addresses: Option<(SocketAddr, SocketAddr)>) -> String {
    let Some((peer, local)) = addresses else {
        return "\0\0\0".to_owned();
    };
    let ((peer_ip, peer_port), (ip, port)) = ((peer.ip(), peer.port()), (local.ip(), local.port()));
    format!("{peer_ip}\0{peer_port}\0{ip}\0{port}")
}
