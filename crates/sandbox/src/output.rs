//! Standard output and error, without a panic where nobody reads them any more.

use std::{fmt, io::Write};

/// Prints a line to standard output as the standard library's macro does, without its panic.
macro_rules! println {
    ($($part:tt)*) => { $crate::output::line(std::io::stdout().lock(), format_args!($($part)*)) };
}

/// Prints a line to standard error in the same way.
macro_rules! eprintln {
    ($($part:tt)*) => { $crate::output::line(std::io::stderr().lock(), format_args!($($part)*)) };
}

/// Writes a line, if anybody reads it.
pub(crate) fn line(mut output: impl Write, text: fmt::Arguments<'_>) {
    let _ = writeln!(output, "{text}");
}
