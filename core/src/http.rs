//! HTTP semantics (RFC 9110), version-neutral: fields, heads, body lengths, priorities, and the
//! events and commands that all machines share.

pub mod body;
pub mod capsule;
pub mod event;
pub mod field;
pub mod head;
pub mod idempotence;
pub mod priority;
mod target_rule;
pub mod trace;

pub use body::length::{BodyLength, Expected};
pub use event::{Event, Refused, Reset, ResetBy, Side, StreamId};
pub use field::spellings::Spellings;
pub use field::{Field, FieldName, Fields, Token};
pub use head::{RequestHead, ResponseHead, Version};
pub use priority::Priority;
pub use target_rule::{HostRule, SchemeRule, TargetRule};
