use super::{Declarations, page};

const SOURCE: &str = r#"
crate::options! {
    /// Bounds.
    pub struct Limits {
        /// Fields of one head.
        /// Default 128.
        pub field_count_max: Option<usize> = FIELD_COUNT_MAX, with_field_count_max;
    }
}
pub struct Other {
    /// A field.
    pub shown: usize,
    hidden: bool,
}
impl Builder {
    /// How long; see [`Self::other`](Self::other). Default 10 s.
    ///
    /// More of it.
    pub fn timeout(mut self, time: Option<Duration>) -> Self { self }
    /// Whether it is on.
    pub fn build(self) -> Client { todo!() }
}
"#;

#[test]
fn options_of_tables_fields_and_setters_become_rows() {
    let mut declared = Declarations::default();
    for item in &syn::parse_file(SOURCE).unwrap().items {
        declared.take(item);
    }
    let rows = |name: &str| declared.rows[name].clone();
    let row = |name: &str, of: &str, text: &str| (name.to_owned(), of.to_owned(), text.to_owned());
    let text = "Fields of one head. Default 128.";
    assert_eq!(
        rows("Limits"),
        [row("field_count_max", "Option<usize>", text)]
    );
    assert_eq!(rows("Other"), [row("shown", "usize", "A field.")]);
    let text = "How long; see `Self::other`. Default 10 s.";
    assert_eq!(rows("Builder"), [row("timeout", "Option<Duration>", text)]);
}

#[test]
fn the_page_has_every_type_of_settings() {
    let page = page().unwrap();
    for row in [
        "| `connections` | `u32` |",
        "| `field_count_max` | `usize` |",
        "| `http3` | `bool` |",
        "| `idle` | `Option<Duration>` |",
    ] {
        assert!(page.contains(row), "{row}\n{page}");
    }
}
