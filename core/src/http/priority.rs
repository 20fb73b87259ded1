//! priority: to come.
