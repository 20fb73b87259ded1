//! Opens a connection by the user's connector.

use super::NegotiatedConnection;
use crate::client::connect::connector::Connector;
use crate::client::connect::route::displayed;
use crate::error::{Error, ErrorKind, Fault, Retry};
use trunkline_core::pool::{Multiplexing, Origin, Protocols};

/// Opens a connection by the user's connector.
pub(super) async fn establish(
    connector: &dyn Connector,
    origin: &Origin,
) -> Result<NegotiatedConnection, Error> {
    let stream = connector.connect(origin).await.map_err(|error| {
        let text = format!("the connector gave no stream for {}", displayed(origin));
        Error::new(ErrorKind::Connect, Fault::Network, Retry::Safe)
            .with_text(text)
            .with_source(error)
    })?;
    let multiplexing = match (stream.speaks_http2(), origin.protocols) {
        (_, Protocols::H3Only) => {
            return Err(Error::config(
                "connector is set and only HTTP/3 is allowed; HTTP/3 goes over UDP, and a connector \
                 gives streams",
            ));
        }
        (true, Protocols::H1Only) => return Err(mismatch(origin, "HTTP/2", "HTTP/1.1")),
        (false, Protocols::H2Only) => return Err(mismatch(origin, "HTTP/1.1", "HTTP/2")),
        (true, _) => Multiplexing::Yes,
        (false, _) => Multiplexing::No,
    };
    Ok(NegotiatedConnection::from_connector(stream, multiplexing))
}

fn mismatch(origin: &Origin, got: &str, wanted: &str) -> Error {
    let text = format!(
        "the connector gave a stream for {} that speaks {got}, where only {wanted} is allowed",
        displayed(origin)
    );
    Error::new(ErrorKind::Connect, Fault::Us, Retry::Never).with_text(text)
}
