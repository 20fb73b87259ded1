#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| trunkline_testkit::fuzz::proxy_header(data));
