//! Standard output and error, written in one place: a reader that closes the pipe (`espelho errors | head`) ends the
//! process quietly, and one that closes that of the errors (`espelho check 2>&1 | true`) changes no exit code.

use std::{
    fmt,
    io::{self, Write as _},
};

/// Prints to standard output as the standard library's macro does, without its panic.
macro_rules! print {
    ($($part:tt)*) => { $crate::output::write(format_args!($($part)*)) };
}

/// Prints a line in the same way.
macro_rules! println {
    () => { $crate::output::write(format_args!("\n")) };
    ($($part:tt)*) => { $crate::output::write(format_args!("{}\n", format_args!($($part)*))) };
}

/// Prints to standard error as the standard library's macro does, without its panic.
macro_rules! eprint {
    ($($part:tt)*) => { $crate::output::write_error(format_args!($($part)*)) };
}

/// Prints a line in the same way.
macro_rules! eprintln {
    () => { $crate::output::write_error(format_args!("\n")) };
    ($($part:tt)*) => { $crate::output::write_error(format_args!("{}\n", format_args!($($part)*))) };
}

/// Writes to standard error. Where nobody reads it, the exit code says enough.
pub(crate) fn write_error(text: fmt::Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(text);
}

/// Writes to standard output. A reader that closes the pipe has read enough: that is the end, not a failure.
pub(crate) fn write(text: fmt::Arguments<'_>) {
    let mut stdout = io::stdout().lock();
    let Err(error) = stdout.write_fmt(text).and_then(|()| stdout.flush()) else { return };
    if error.kind() == io::ErrorKind::BrokenPipe {
        std::process::exit(crate::exit::COMPLETE.into());
    }
    eprintln!("espelho: stdout: {error}");
    std::process::exit(crate::exit::FAILED.into());
}
