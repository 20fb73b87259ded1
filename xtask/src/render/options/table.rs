//! Reads the tables of `options!`: structs whose fields are options, each with its default and its method.

use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, Ident, Token, Type, Visibility};

/// The body of an `options!`.
pub(crate) struct Table {
    pub name: Ident,
    pub options: Vec<DeclaredOption>,
}

/// One option.
pub(crate) struct DeclaredOption {
    pub attributes: Vec<Attribute>,
    pub name: Ident,
    pub kind: Type,
}

/// The table that a macro call is, if it is one.
pub(crate) fn table_of(called: &syn::Macro) -> Option<syn::Result<Table>> {
    let last = called.path.segments.last()?;
    (last.ident == "options").then(|| called.parse_body())
}

impl Parse for Table {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        input.parse::<Token![struct]>()?;
        let name = input.parse()?;
        let body;
        syn::braced!(body in input);
        let mut options = Vec::new();
        while !body.is_empty() {
            let attributes = body.call(Attribute::parse_outer)?;
            body.parse::<Visibility>()?;
            let name = body.parse()?;
            body.parse::<Token![:]>()?;
            let kind = body.parse()?;
            body.parse::<Token![=]>()?;
            body.parse::<Expr>()?;
            body.parse::<Token![,]>()?;
            body.parse::<Ident>()?;
            body.parse::<Token![;]>()?;
            options.push(DeclaredOption {
                attributes,
                name,
                kind,
            });
        }
        Ok(Self { name, options })
    }
}
