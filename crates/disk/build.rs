//! Puts the name and text of every file in `devices/` into the program, and the library of `crates/clock`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(set("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(set("OUT_DIR"));
    clock(&here.join("../clock/src/lib.rs"), &out.join("clock.so"))?;
    devices(&here.join("../../devices"), &out.join("devices.rs"))
}

fn set(variable: &str) -> String {
    env::var(variable).expect("Cargo sets it")
}

/// Compiles the library. Cargo cannot build one package as a file for another.
fn clock(source: &Path, out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let linker = env::var("RUSTC_LINKER").map(|linker| format!("-Clinker={linker}"));
    let done = Command::new(set("RUSTC"))
        .args(linker) // of another machine's kind, where a wheel is made for that
        .args(["--edition=2024", "--crate-type=cdylib", "--target"])
        .arg(set("TARGET"))
        .args(["-Copt-level=3", "-Cpanic=abort", "-Cstrip=symbols", "-o"])
        .args([out, source])
        .status()?;
    assert!(done.success(), "the library was not compiled");
    Ok(())
}

fn devices(folder: &Path, out: &Path) -> io::Result<()> {
    let folder = folder.canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file
            .file_stem()
            .expect("a file has a name")
            .to_string_lossy();
        writeln!(
            list,
            "({name:?}, include_str!({:?})),",
            file.display().to_string()
        )
        .expect("a string takes everything");
    }
    list.push(']');
    fs::write(out, list)
}
