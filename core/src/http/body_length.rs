//! body_length: to come.
