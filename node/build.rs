//! Links the addon: its symbols of Node-API and libuv are those of the process that loads it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => {
            // A thread that ends after the last environment still runs our thread-local
            // destructors: the code must stay mapped.
            println!("cargo::rustc-link-arg=-Wl,-z,nodelete");
            println!("cargo::rustc-link-arg=-Wl,--unresolved-symbols=ignore-all");
        }
        Ok("macos") => {
            println!("cargo::rustc-link-arg=-undefined");
            println!("cargo::rustc-link-arg=dynamic_lookup");
        }
        _ => {}
    }
}
