#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| espelho_model::fuzzing::person(input));
