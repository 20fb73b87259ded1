//! Hands the name of the target to the program.

fn main() {
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=TARGET={target}");
    println!("cargo::rerun-if-changed=build.rs");
}
