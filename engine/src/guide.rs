//! Recipes, one page for each subject. Every example is compiled and, where it needs no foreign peer, run as
//! a test.

#[doc = include_str!("guide/bodies.md")]
pub mod bodies {}
#[doc = include_str!("guide/streams.md")]
pub mod streams {}
#[doc = include_str!("guide/requests.md")]
pub mod requests {}
#[doc = include_str!("guide/errors.md")]
pub mod errors {}
#[doc = include_str!("guide/shutdown.md")]
pub mod shutdown {}
#[doc = include_str!("guide/tls.md")]
pub mod tls {}
#[doc = include_str!("guide/observing.md")]
pub mod observing {}
#[doc = include_str!("guide/websockets.md")]
pub mod websockets {}
#[doc = include_str!("guide/grpc.md")]
pub mod grpc {}
#[doc = include_str!("guide/http3.md")]
pub mod http3 {}
#[doc = include_str!("guide/tuning.md")]
pub mod tuning {}
