//! Reads what the marketplace sends, strict about being JSON and tolerant about its shape; and writes the exact form
//! of what it is sent.

/// Declares an object of the document by the names of its fields. Reading the object never fails on a field; a
/// [`FieldReader`](fields::FieldReader) interprets each.
macro_rules! shape {
    ($(#[$doc:meta])* $visible:vis $name:ident { $($(#[$rename:meta])? $field:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Default, serde::Deserialize)]
        #[serde(default)]
        $visible struct $name<'a> {
            $(
                $(#[$rename])?
                #[serde(borrow)]
                $visible $field: $crate::wire::fields::Field<'a>,
            )+
        }
    };
}

pub(crate) use shape;

pub(crate) mod envelope;
pub mod fields;
pub mod list;
pub(crate) mod masked;
pub(crate) mod members;
pub(crate) mod outward;
pub mod rows;
pub(crate) mod within;
