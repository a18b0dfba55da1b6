//! Routes, as metrics and limits name them.

/// A route with its method.
pub type Route = (&'static str, &'static str);
