//! idempotence: to come.
