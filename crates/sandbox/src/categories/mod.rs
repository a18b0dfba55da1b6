//! Categories: the tree that listings belong to, and its attributes ("Listings (items) and categories" of the
//! document).

mod attributes;
mod combine;
pub(crate) mod routes;
mod tree;

pub(crate) use self::{
    attributes::{Attribute, Values},
    tree::{Category, find},
};
