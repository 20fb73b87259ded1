//! Methods that change one setting of a struct.

/// Gives a struct of settings a method for each of its fields, so that programs outside its crate change some
/// of them in one expression: `Limits::default().with_pipelining(4)`. A field without a method does not
/// compile.
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    ($name:ident { $($with:ident $field:ident: $kind:ty,)* }) => {
        /// A method for each field.
        impl $name {
            $(
                #[doc = concat!("With this value of the field `", stringify!($field), "`.")]
                #[must_use]
                pub fn $with(mut self, $field: $kind) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }

        const _: fn(&$name) = |$name { $($field: _,)* }| {};
    };
}
