//! Values of fields in the forms that programs have them in.

use bytes::Bytes;
use http::HeaderValue;
use http::header::InvalidHeaderValue;
use std::borrow::Cow;

/// A value for [`RequestBuilder::header`](crate::client::RequestBuilder::header): text, bytes, a whole number, or
/// a [`HeaderValue`], which stays sensitive where it is.
pub trait IntoHeaderValue {
    /// The value.
    ///
    /// # Errors
    /// A character that no value has.
    fn into_header_value(self) -> Result<HeaderValue, InvalidHeaderValue>;
}

impl IntoHeaderValue for HeaderValue {
    fn into_header_value(self) -> Result<HeaderValue, InvalidHeaderValue> {
        Ok(self)
    }
}

impl IntoHeaderValue for &HeaderValue {
    fn into_header_value(self) -> Result<HeaderValue, InvalidHeaderValue> {
        Ok(self.clone())
    }
}

/// UTF-8 goes as its bytes (RFC 9110 section 5.5, `obs-text`).
macro_rules! of_text {
    ($($type:ty),*) => { $(
        impl IntoHeaderValue for $type {
            fn into_header_value(self) -> Result<HeaderValue, InvalidHeaderValue> {
                HeaderValue::from_bytes(self.as_bytes())
            }
        }
    )* };
}

of_text!(&str, &String, Cow<'_, str>);

macro_rules! of_bytes {
    ($($type:ty),*) => { $(
        impl IntoHeaderValue for $type {
            fn into_header_value(self) -> Result<HeaderValue, InvalidHeaderValue> {
                HeaderValue::from_bytes(self)
            }
        }
    )* };
}

of_bytes!(&[u8], &Vec<u8>);

/// Their memory is taken.
macro_rules! of_owned_bytes {
    ($($type:ty),*) => { $(
        impl IntoHeaderValue for $type {
            fn into_header_value(self) -> Result<HeaderValue, InvalidHeaderValue> {
                HeaderValue::from_maybe_shared(Bytes::from(self))
            }
        }
    )* };
}

of_owned_bytes!(String, Vec<u8>, Bytes);

impl<const N: usize> IntoHeaderValue for [u8; N] {
    fn into_header_value(self) -> Result<HeaderValue, InvalidHeaderValue> {
        HeaderValue::from_bytes(&self)
    }
}

impl<const N: usize> IntoHeaderValue for &[u8; N] {
    fn into_header_value(self) -> Result<HeaderValue, InvalidHeaderValue> {
        HeaderValue::from_bytes(self)
    }
}

macro_rules! of_numbers {
    ($($type:ty),*) => { $(
        impl IntoHeaderValue for $type {
            fn into_header_value(self) -> Result<HeaderValue, InvalidHeaderValue> {
                Ok(HeaderValue::from(self))
            }
        }
    )* };
}

of_numbers!(i16, i32, i64, isize, u16, u32, u64, usize);
