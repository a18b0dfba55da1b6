#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| espelho_sync_engine::fuzzing::level(input));
