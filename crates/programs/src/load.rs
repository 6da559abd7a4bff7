//! The program; everything it does is in the library.

fn main() -> ! {
    diskproof_load::cli::main()
}
