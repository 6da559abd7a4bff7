//! A script's text, and mistakes in it with their file, line and place.

use std::fmt::Write;
use std::path::Path;

use crate::file;
use crate::plain::is_obeyed;
use crate::workload::sql::Mistake;

/// Every connection prepares the whole script and every worker keeps it: a megabyte is more SQL
/// than a person writes for a transaction, and a dump given by mistake is larger.
const LARGEST_BYTES: u64 = 1 << 20;

/// Longer lines are shown in part.
const SHOWN_BEFORE_CHARS: usize = 60;
const SHOWN_AFTER_CHARS: usize = 30;

/// The text of one file and the name that reports give it.
#[derive(Debug)]
pub struct Source {
    pub name: String,
    pub text: String,
}

impl Source {
    /// Reads a file of at most a megabyte of UTF-8. The error says what is wrong with it.
    pub fn read(path: &Path, name: &str) -> Result<Self, String> {
        let shown = path.display();
        let bytes = file::read(path, LARGEST_BYTES).map_err(|reason| {
            format!("{shown}: {reason}; give a file with the SQL of one transaction")
        })?;
        let bytes = file::without_mark(&bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = line_number(&bytes[..error.valid_up_to()]);
            format!("{shown}:{line}: not UTF-8 text")
        })?;
        if let Some(nul) = text.find('\0') {
            let line = line_number(&bytes[..nul]);
            return Err(format!("{shown}:{line}: a NUL, which no SQL holds"));
        }
        Ok(Self {
            name: name.to_owned(),
            text: text.to_owned(),
        })
    }

    /// The message for a mistake: with its file, its line, and a mark under its place.
    pub(super) fn tell(&self, mistake: &Mistake) -> String {
        let text = self.text.as_bytes();
        tell(&self.name, text, line_number(&text[..mistake.at]), mistake)
    }
}

/// The message for a mistake in a text; `line` is the line of its place.
pub(super) fn tell(name: &str, text: &[u8], line: usize, mistake: &Mistake) -> String {
    let (before, after) = text.split_at(mistake.at);
    let before = before.rsplit(|&byte| byte == b'\n').next();
    let before = String::from_utf8_lossy(before.unwrap_or_default());
    let before: Vec<char> = before.chars().collect();
    let after = after.split(|&byte| byte == b'\n').next();
    let after = after.unwrap_or_default();
    let after = String::from_utf8_lossy(&after[..after.len().min(4 * SHOWN_AFTER_CHARS)]);
    let after = after.trim_end_matches('\r').chars();
    let hidden = before.len().saturating_sub(SHOWN_BEFORE_CHARS);
    let mut told = format!("{name}:{line}: {}", mistake.message);
    told.push_str("\n  ");
    let shown = before[hidden..].iter().copied();
    told.extend(shown.chain(after.take(SHOWN_AFTER_CHARS)).map(plain));
    // Writing to a string cannot fail.
    let _ = write!(told, "\n  {:>1$}", '^', before.len() - hidden + 1);
    told
}

fn line_number(before: &[u8]) -> usize {
    before.split(|&byte| byte == b'\n').count()
}

/// Keeps the mark under its place.
fn plain(character: char) -> char {
    match character {
        '\t' => ' ',
        obeyed if is_obeyed(obeyed) => '?',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_mistake_is_told_with_its_place() {
        let source = Source {
            name: "hot.sql".into(),
            text: "SELECT 1;\n\\set ä\trandm(1)\n".into(),
        };
        let at = source.text.find("randm").unwrap();
        assert_eq!(
            source.tell(&Mistake::new(at, "no function randm")),
            "hot.sql:2: no function randm\n  \\set ä randm(1)\n         ^"
        );
        let end = source.text.len();
        assert_eq!(
            source.tell(&Mistake::new(end, "end")),
            "hot.sql:3: end\n  \n  ^"
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let source = Source {
            name: "a".into(),
            text: format!("{}!{}", "x".repeat(5000), "y".repeat(5000)),
        };
        let told = source.tell(&Mistake::new(5000, "here"));
        let lines: Vec<_> = told.lines().collect();
        assert_eq!(lines[1].len(), 2 + SHOWN_BEFORE_CHARS + SHOWN_AFTER_CHARS);
        assert_eq!(lines[1].find('!'), lines[2].find('^'));
    }

    #[test]
    fn files_that_are_no_scripts_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let read = |name: &str| Source::read(&directory.path().join(name), name).unwrap_err();
        assert!(read("gone.sql").contains("No such file"));
        assert!(read("").contains("a directory"));
        fs::write(directory.path().join("nul.sql"), b"SELECT\n\0").unwrap();
        assert!(read("nul.sql").contains("nul.sql:2: a NUL"));
        fs::write(directory.path().join("latin1.sql"), b"SELECT 1;\n-- \xE4\n").unwrap();
        assert!(read("latin1.sql").contains("latin1.sql:2: not UTF-8"));
        let large = fs::File::create(directory.path().join("large.sql")).unwrap();
        large.set_len(100 << 20).unwrap();
        assert!(read("large.sql").contains("larger than 1024 KiB"));
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_script() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("marked.sql");
        fs::write(&path, "\u{feff}SELECT 1;").unwrap();
        assert_eq!(Source::read(&path, "").unwrap().text, "SELECT 1;");
    }
}
