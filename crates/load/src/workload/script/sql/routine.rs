//! The end of a procedure, a function or a trigger.

/// The bodies of procedures and triggers: semicolons in them end nothing.
#[derive(Default)]
pub(super) struct Routine {
    depth: usize,
    /// The last word was an END that may belong to an IF or a loop, which opened nothing.
    after_end: bool,
}

impl Routine {
    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// A statement inside ends: what comes next belongs to no END before it.
    pub(super) fn end_statement(&mut self) {
        self.after_end = false;
    }

    pub(super) fn take(&mut self, word: &str, before: &[&str]) {
        let is = |wanted: &str| word.eq_ignore_ascii_case(wanted);
        let after_end = std::mem::take(&mut self.after_end);
        if is("end") {
            self.after_end = self.is_open();
            self.depth = self.depth.saturating_sub(1);
        } else {
            let closes_loop = ["if", "loop", "while", "repeat"].into_iter().any(is);
            let opens = is("begin") || (is("case") && self.is_open());
            self.depth += usize::from(if after_end {
                closes_loop
            } else {
                opens && makes_routine(before)
            });
        }
    }
}

fn makes_routine(words: &[&str]) -> bool {
    let is = |word: &str, wanted: &str| word.eq_ignore_ascii_case(wanted);
    let routines = ["procedure", "function", "trigger", "event"];
    words.first().is_some_and(|word| is(word, "create"))
        && words
            .iter()
            .take(6)
            .any(|word| routines.iter().any(|known| is(word, known)))
}
