//! HTTP semantics (RFC 9110), version-neutral: fields, heads, body lengths, priorities, and the
//! events and commands that all machines share.

mod authority;
pub mod body_length;
pub(crate) mod body_slab;
pub mod capsule;
pub mod event;
pub mod field;
pub(crate) mod free_list;
pub mod head;
pub mod idempotence;
pub mod priority;
pub(crate) mod reason;
mod rules;
pub mod schedule;
mod spellings;
mod structured;
pub(crate) mod syntax;
mod target_rule;

pub use body_length::{BodyLength, Expected};
pub use event::{Event, Refused, Reset, ResetBy, Side, StreamId};
pub use field::{Field, FieldName, Fields, Token};
pub use head::{RequestHead, ResponseHead, Version};
pub use priority::Priority;
pub use spellings::Spellings;
pub use target_rule::{HostRule, SchemeRule, TargetRule};
