#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| espelho_api_client::fuzzing::delivery(input));
