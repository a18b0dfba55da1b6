//! The credentials of one store: several, each with a token of its own.

use std::ops::{Deref, DerefMut};

use parking_lot::MutexGuard;

use super::Credential;

/// The credentials of a store, in the order of their creation. A revoked credential keeps its position: its token lives
/// on, and names it by position.
pub(crate) struct Credentials {
    first: Credential,
    others: Vec<Credential>,
}

impl Credentials {
    pub(crate) fn new(first: Credential) -> Self {
        Self { first, others: Vec::new() }
    }

    pub(crate) fn get(&self, at: usize) -> Option<&Credential> {
        match at.checked_sub(1) {
            None => Some(&self.first),
            Some(at) => self.others.get(at),
        }
    }

    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut Credential> {
        match at.checked_sub(1) {
            None => Some(&mut self.first),
            Some(at) => self.others.get_mut(at),
        }
    }

    /// Adds a credential; its position.
    pub(crate) fn add(&mut self, credential: Credential) -> usize {
        self.others.push(credential);
        self.others.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Credential> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

/// The credential that a store was made with, locked along with the others.
pub(crate) struct First<'a>(pub(crate) MutexGuard<'a, Credentials>);

impl Deref for First<'_> {
    type Target = Credential;

    fn deref(&self) -> &Credential {
        &self.0.first
    }
}

impl DerefMut for First<'_> {
    fn deref_mut(&mut self) -> &mut Credential {
        &mut self.0.first
    }
}
