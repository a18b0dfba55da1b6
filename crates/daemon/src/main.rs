//! The `espelho` binary; everything is in the library.

fn main() -> std::process::ExitCode {
    espelho_daemon::main()
}
