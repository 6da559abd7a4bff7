//! Histories of files and of names.

mod files;
mod trees;
