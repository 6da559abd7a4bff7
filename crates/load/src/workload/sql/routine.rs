//! The end of a procedure, a function or a trigger.

/// Words at the start of a statement that say whether it makes a routine.
pub(super) const WORDS: usize = 6;

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

    pub(super) fn take(&mut self, word: &[u8], before: &[&[u8]]) {
        let is = |wanted: &str| word.eq_ignore_ascii_case(wanted.as_bytes());
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

pub(super) fn makes_routine(words: &[&[u8]]) -> bool {
    let is = |word: &[u8], wanted: &str| word.eq_ignore_ascii_case(wanted.as_bytes());
    let routines = ["procedure", "function", "trigger", "event"];
    words.first().is_some_and(|word| is(word, "create"))
        && words
            .iter()
            .take(WORDS)
            .any(|word| routines.iter().any(|known| is(word, known)))
}
