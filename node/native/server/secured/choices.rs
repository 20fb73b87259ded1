//! TLS settings of handshakes, chosen by JavaScript: a question goes out as a completion, and its
//! answer comes back as a cold call.

use crate::calls::questions::{Question, Questions};
use crate::channel::codes::completion;
use crate::channel::codes::handshake_failure::*;
use crate::channel::shared::Shared;
use crate::server::described::places;
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Weak};
use std::{error, fmt};
use trunkline::server::HandshakeFailure;
use trunkline::{ClientHello, Tls, TlsRefusal};

/// The handshake questions that JavaScript wants.
#[derive(Clone, Copy, Default, Deserialize)]
pub(crate) struct Asks {
    /// Clients that name a host.
    pub(crate) names: bool,
    /// Clients that say what they speak.
    pub(crate) protocols: bool,
}

impl Asks {
    pub(crate) fn is_some(self) -> bool {
        self.names || self.protocols
    }
    fn of(self, hello: &ClientHello) -> bool {
        self.names && hello.server_name().is_some() || self.protocols && hello.protocols().len() > 0
    }
}

/// JavaScript's choice.
pub(crate) enum Choice {
    /// `None`: the server's default settings. The index of a protocol among the client's; `None`:
    /// the settings' choice.
    Tls(Option<Tls>, Option<usize>),
    /// None of the client's protocols.
    NoProtocol,
    /// JavaScript knows the error.
    Refused,
}

/// JavaScript refused the client of this question.
#[derive(Debug)]
pub(crate) struct ChoiceRefused {
    pub(crate) ticket: u32,
}

impl fmt::Display for ChoiceRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SNICallback or ALPNCallback failed")
    }
}

impl error::Error for ChoiceRefused {}

/// The code of a failure, and its alert.
pub(crate) fn kind_of(why: &HandshakeFailure) -> (u32, u32) {
    match why {
        HandshakeFailure::Timeout => (TIMEOUT, 0),
        HandshakeFailure::Gone => (GONE, 0),
        HandshakeFailure::NotTls => (NOT_TLS, 0),
        HandshakeFailure::CleartextRequest => (CLEARTEXT_REQUEST, 0),
        HandshakeFailure::CleartextConnect => (CLEARTEXT_CONNECT, 0),
        HandshakeFailure::Version => (VERSION, 0),
        HandshakeFailure::Cipher => (CIPHER, 0),
        HandshakeFailure::Protocol => (PROTOCOL, 0),
        HandshakeFailure::KeyExchange => (KEY_EXCHANGE, 0),
        HandshakeFailure::Signature => (SIGNATURE, 0),
        HandshakeFailure::NoCertificate => (NO_CERTIFICATE, 0),
        HandshakeFailure::Certificate(_) => (CERTIFICATE, 0),
        HandshakeFailure::Unexpected(_) => (UNEXPECTED, 0),
        HandshakeFailure::Malformed(_) => (MALFORMED, 0),
        HandshakeFailure::TooLong => (TOO_LONG, 0),
        HandshakeFailure::Undecryptable => (UNDECRYPTABLE, 0),
        HandshakeFailure::Refused(refusal) => of_refusal(refusal),
        HandshakeFailure::Alert(alert) => (ALERT, u32::from(*alert)),
        _ => (OTHER, 0),
    }
}

/// The alert of a refusal and a ticket; a ticket alone stands in the place of an alert, by which JavaScript finds the error.
fn of_refusal(refusal: &TlsRefusal) -> (u32, u32) {
    match refusal.why().downcast_ref::<ChoiceRefused>() {
        Some(refused) => (REFUSED, refused.ticket),
        None if refusal.alert() == TlsRefusal::NO_APPLICATION_PROTOCOL => (PROTOCOL, 0),
        None => (OTHER, 0),
    }
}

/// Has JavaScript choose at each handshake of `server` that it wants to be asked of.
pub(crate) fn choosing(
    tls: Tls,
    server: u32,
    asks: Asks,
    (shared, choices): (&Arc<Shared>, &Arc<Questions<Choice>>),
) -> Tls {
    // The environment's thread ends before what it shares goes.
    let shared = Arc::downgrade(shared);
    let choices = Arc::clone(choices);
    let own = tls.clone();
    tls.choose(move |hello| {
        let question = asks
            .of(&hello)
            .then(|| ask(&shared, &choices, server, &hello));
        let own = own.clone();
        async move {
            let Some(question) = question else {
                return Ok(None);
            };
            let question = question.ok_or_else(gone)?;
            let ticket = question.ticket;
            match question.answer().await.ok_or_else(gone)? {
                Choice::Tls(chosen, None) => Ok(chosen),
                Choice::Tls(chosen, Some(place)) => {
                    let offered = hello.protocols().nth(place);
                    let offered = offered.and_then(|name| str::from_utf8(name).ok());
                    let offered = offered.ok_or_else(no_protocol)?;
                    Ok(Some(chosen.unwrap_or(own).offer(&[offered])))
                }
                Choice::NoProtocol => Err(no_protocol()),
                Choice::Refused => Err(TlsRefusal::new(
                    TlsRefusal::INTERNAL_ERROR,
                    ChoiceRefused { ticket },
                )),
            }
        }
    })
}

fn gone() -> TlsRefusal {
    TlsRefusal::new(TlsRefusal::INTERNAL_ERROR, "nobody is there to choose")
}

fn no_protocol() -> TlsRefusal {
    let why = "ALPNCallback has chosen none of the client's protocols";
    TlsRefusal::new(TlsRefusal::NO_APPLICATION_PROTOCOL, why)
}

/// `None`: the environment has gone.
fn ask(
    shared: &Weak<Shared>,
    choices: &Arc<Questions<Choice>>,
    server: u32,
    hello: &ClientHello,
) -> Option<Question<Choice>> {
    let shared = shared.upgrade()?;
    let question = Question::new(choices);
    let latin1 = |name: &[u8]| name.iter().copied().map(char::from).collect::<String>();
    let text = json!({
        "places": places(hello.addresses()),
        "servername": hello.server_name(),
        "protocols": hello.protocols().map(latin1).collect::<Vec<_>>(),
    });
    let entry = completion::client_hello(server, question.ticket);
    shared.complete_from_anywhere(entry, text.to_string().as_bytes());
    Some(question)
}
