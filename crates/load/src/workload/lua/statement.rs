//! The types of statements that a script may send: its first word, and what came of it.

use crate::driver::{Dialect, Kind, Reply, StatementId};
use crate::workload::Catalogue;
use crate::workload::sql::{What, Words};

/// First words with the kind that they usually are of.
const VERBS: [(&str, Kind); 14] = [
    ("select", Kind::Read),
    ("insert", Kind::Write),
    ("update", Kind::Write),
    ("delete", Kind::Write),
    ("replace", Kind::Write),
    ("begin", Kind::Other),
    ("commit", Kind::Other),
    ("rollback", Kind::Other),
    ("with", Kind::Read),
    ("show", Kind::Read),
    ("set", Kind::Other),
    ("call", Kind::Other),
    ("lock", Kind::Other),
    ("other", Kind::Other),
];

/// The only statement that the catalogue holds.
pub(super) const ROLLBACK: StatementId = 0;

const KINDS: [Kind; 3] = [Kind::Read, Kind::Write, Kind::Other];

/// What a statement begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verb(usize);

impl Verb {
    pub(super) fn of(sql: &[u8]) -> Self {
        let word = first_word(sql);
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        let place = VERBS.iter().position(|(name, _)| is(name));
        let named = |name: &str| VERBS.iter().position(|(own, _)| *own == name);
        let place = place.or_else(|| match () {
            () if is("start") => named("begin"),
            () if is("end") => named("commit"),
            () if is("unlock") => named("lock"),
            () => None,
        });
        Self(place.unwrap_or(VERBS.len() - 1))
    }

    /// The type before the reply is there, and of a statement that is refused.
    pub(super) fn usual_type(self) -> usize {
        self.type_of(VERBS[self.0].1)
    }

    /// sysbench's rule: what brings a result is a read, what changes a row a write.
    pub(super) fn type_after(self, reply: Reply, has_result: bool) -> usize {
        self.type_of(if has_result {
            Kind::Read
        } else if reply.affected > 0 {
            Kind::Write
        } else {
            Kind::Other
        })
    }

    /// Whether it has a result even if that has no row.
    pub(super) fn reads(self) -> bool {
        VERBS[self.0].1 == Kind::Read
    }

    fn type_of(self, kind: Kind) -> usize {
        let place = KINDS.iter().position(|&own| own == kind).unwrap_or(0);
        self.0 * KINDS.len() + place
    }
}

/// The first word behind spaces, comments and parentheses.
fn first_word(sql: &[u8]) -> &[u8] {
    let mut words = Words::new(sql, Dialect::Mysql);
    let first = words.find(|word| !word.is("(") && !word.is(";"));
    match first.map(|word| word.what) {
        Some(What::Plain(word)) => word,
        _ => b"",
    }
}

/// Every type that may come; reports show those that did.
pub(super) fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::default();
    for (name, usual) in VERBS {
        for kind in KINDS {
            let suffix = match kind {
                _ if kind == usual => "",
                Kind::Read => ", with a result",
                Kind::Write => ", rows changed",
                Kind::Other => ", no row changed",
            };
            catalogue.add(format!("{name}{suffix}"), kind, []);
        }
    }
    catalogue.roll_back_with("ROLLBACK");
    catalogue.shows_used_types_only = true;
    catalogue
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_named_after_its_first_word() {
        let name = |sql: &str| VERBS[Verb::of(sql.as_bytes()).0].0;
        assert_eq!(name("SELECT c FROM t"), "select");
        assert_eq!(name("  (select 1)"), "select");
        assert_eq!(name("/* hint */ -- why\n Update t SET k=1"), "update");
        assert_eq!(name("START TRANSACTION"), "begin");
        assert_eq!(name("commit;"), "commit");
        assert_eq!(name("CREATE TABLE t (id INT)"), "other");
        assert_eq!(name("/* open"), "other");
        assert_eq!(name(""), "other");
    }

    #[test]
    fn the_kind_follows_the_reply() {
        let catalogue = catalogue();
        let kind = |sql: &str, affected: u64, has_result: bool| {
            let reply = Reply { rows: 0, affected };
            let index = Verb::of(sql.as_bytes()).type_after(reply, has_result);
            let shown = &catalogue.types()[index];
            (shown.name.clone().into_owned(), shown.kind)
        };
        assert_eq!(kind("UPDATE t", 1, false), ("update".into(), Kind::Write));
        assert_eq!(
            kind("UPDATE t", 0, false),
            ("update, no row changed".into(), Kind::Other)
        );
        assert_eq!(
            kind("CALL p()", 0, true),
            ("call, with a result".into(), Kind::Read)
        );
        assert_eq!(kind("BEGIN", 0, false), ("begin".into(), Kind::Other));
    }
}
