//! Many probes on one device: each finds a new model, and all processors work.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, anyhow};
use serde::Deserialize;
use serde_json::Value;

use crate::device::{Pattern, Probe};
use crate::file;

/// One line of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    pattern: Pattern,
    block_bytes: u64,
    #[serde(default = "one")]
    depth: u32,
    #[serde(default)]
    span_bytes: Option<u64>,
    seconds: u64,
    requests: u64,
}

fn one() -> u32 {
    1
}

/// A probe, and how long it runs.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) probe: Probe,
    pub(super) seconds: u64,
    pub(super) requests: u64,
}

/// Reads lines of JSON; the message of an error names the file and the line.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Wanted>> {
    let text =
        file::read_text(path).with_context(|| format!("the probes in {}", path.display()))?;
    let wanted = |(number, line): (usize, &str)| {
        let of_line = |why: String| anyhow!("{}, line {}: {why}", path.display(), number + 1);
        let line: Line = serde_json::from_str(line).map_err(|why| of_line(why.to_string()))?;
        let in_bounds = (512..=16 << 20).contains(&line.block_bytes)
            && (1..=65_536).contains(&line.depth)
            && (1..=1_000_000_000).contains(&line.seconds)
            && line.requests > 0;
        if !in_bounds {
            let why = "block_bytes may be 512 to 16777216, depth 1 to 65536, seconds 1 to 1000000000, and \
                       requests 1 or more";
            return Err(of_line(why.to_owned()));
        }
        Ok(Wanted {
            probe: Probe {
                pattern: line.pattern,
                block_bytes: line.block_bytes,
                depth: line.depth,
                span_bytes: line.span_bytes,
            },
            seconds: line.seconds,
            requests: line.requests,
        })
    };
    text.lines().enumerate().map(wanted).collect()
}

/// Answers all of them, in their order.
pub(super) fn run(wanted: &[Wanted], answer: impl Fn(&Wanted) -> Value + Sync) -> Vec<Value> {
    let answers: Vec<OnceLock<Value>> = wanted.iter().map(|_| OnceLock::new()).collect();
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

    const PROBE: &str = r#""pattern":"random-read","block_bytes":4096,"seconds":1"#;

    #[test]
    fn answers_keep_the_order_of_the_lines() {
        let wanted: Vec<Wanted> = (1..=50)
            .map(|requests| Wanted {
                probe: Probe {
                    pattern: Pattern::RandomRead,
                    block_bytes: 4096,
                    depth: 1,
                    span_bytes: None,
                },
                seconds: 1,
                requests,
            })
            .collect();
        let answers = run(&wanted, |one| one.requests.into());
        assert_eq!(answers, (1..=50).map(Value::from).collect::<Vec<_>>());
        assert!(run(&[], |_| Value::Null).is_empty());
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, why) in [
            (format!("{{{PROBE},\"requests\":9}}\n{{{PROBE}}}"), "line 2"),
            (format!("{{{PROBE},\"requests\":0}}"), "requests 1 or more"),
            (
                format!("{{{PROBE},\"requests\":1,\"odd\":1}}"),
                "unknown field",
            ),
        ] {
            let file = tempfile::NamedTempFile::new().expect("a file");
            std::fs::write(file.path(), text).expect("written");
            let error = read(file.path()).expect_err(why);
            assert!(format!("{error:#}").contains(why), "{error:#}");
        }
        assert!(read(Path::new("/nowhere")).is_err());
    }
}
