//! The migrations are embedded in the binary, so a change of theirs is a change of ours.
fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
