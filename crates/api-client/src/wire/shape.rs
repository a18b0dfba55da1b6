//! Objects with every field optional and unread.

/// Declares an object of the document by the names of its fields. Reading the object never fails on a field; a
/// [`FieldReader`](super::fields::FieldReader) interprets each.
macro_rules! shape {
    ($(#[$doc:meta])* $name:ident { $($(#[$rename:meta])? $field:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Default, serde::Deserialize)]
        #[serde(default)]
        struct $name<'a> {
            $(
                $(#[$rename])?
                #[serde(borrow)]
                $field: $crate::wire::fields::Field<'a>,
            )+
        }
    };
}

pub(crate) use shape;
