//! Many probes or loads on one device, one a line: each finds a new model, and all processors work.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, anyhow};
use serde::de::DeserializeOwned;

use crate::file;

/// Reads lines of JSON; the message of an error names the file and the line.
pub(super) fn read<T: DeserializeOwned>(
    path: &Path,
    check: impl Fn(&T) -> Result<(), String>,
) -> anyhow::Result<Vec<T>> {
    let shown = path.display();
    let text = file::read_text(path).with_context(|| shown.to_string())?;
    let wanted = |(number, line): (usize, &str)| {
        let of_line = |why: String| anyhow!("{shown}, line {}: {why}", number + 1);
        let one = serde_json::from_str(line).map_err(|why| of_line(why.to_string()))?;
        check(&one).map_err(of_line)?;
        Ok(one)
    };
    text.lines().enumerate().map(wanted).collect()
}

/// Answers all of them, in their order.
pub(super) fn run<T: Sync, A: Send + Sync>(
    wanted: &[T],
    answer: impl Fn(&T) -> A + Sync,
) -> Vec<A> {
    let answers: Vec<OnceLock<A>> = wanted.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        for _ in 0..threads.min(wanted.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(one) = wanted.get(at) else { break };
                    answers[at].get_or_init(|| answer(one));
                }
            });
        }
    });
    answers
        .into_iter()
        .map(|one| one.into_inner().expect("each was answered once"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_keep_the_order_of_the_lines() {
        let wanted: Vec<u64> = (1..=50).collect();
        assert_eq!(
            run(&wanted, |one| 2 * one),
            wanted.iter().map(|one| 2 * one).collect::<Vec<_>>()
        );
        assert!(run(&[], |one: &u64| *one).is_empty());
    }

    #[test]
    fn a_wrong_line_is_named() {
        let small = |one: &u32| (*one < 9).then_some(()).ok_or("too large".to_owned());
        let read = |text: &str| {
            let file = tempfile::NamedTempFile::new().expect("a file");
            std::fs::write(file.path(), text).expect("written");
            super::read(file.path(), small)
        };
        assert_eq!(read("1\n2\n").expect("both are numbers"), [1, 2]);
        for (text, why) in [("1\nx", "line 2: expected"), ("9", "line 1: too large")] {
            let error = read(text).expect_err(why);
            assert!(format!("{error:#}").contains(why), "{error:#}");
        }
        assert!(super::read(Path::new("/nowhere"), small).is_err());
    }
}
