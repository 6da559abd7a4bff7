//! Puts the name and text of every file in `devices/` into the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("Cargo sets it")).join("../../devices");
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
    let out = env::var("OUT_DIR").expect("Cargo sets it");
    fs::write(Path::new(&out).join("devices.rs"), list)
}
