//! Writes the man pages of both programs into a folder: `cargo run --package diskproof-man FOLDER`.

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    for program in [
        diskproof_load::cli::command(),
        diskproof_disk::cli::command(),
    ] {
        clap_mangen::generate_to(program, &folder)?;
    }
    Ok(())
}
