#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| trunkline_testkit::fuzz::h2_session(data));
