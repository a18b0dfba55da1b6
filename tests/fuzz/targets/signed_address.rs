#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| espelho_api_client::fuzzing::signed_address(input));
