//! Structs of options: each option once, with its type, its default and the method that changes it.

/// Makes a public struct of options, whose fields programs set, and for each field a method, so that programs
/// outside its crate change some of them in one expression: `Limits::default().with_pipelining(4)`.
#[doc(hidden)]
#[macro_export]
macro_rules! options {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[$doc:meta])* pub $field:ident: $kind:ty = $default:expr, $with:ident;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$doc])* pub $field: $kind,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: $default,)*
                }
            }
        }

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
    };
}
