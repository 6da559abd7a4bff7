//! Parameters put into a statement's text.

use super::LONGEST_BYTES;
use crate::driver::Dialect;
use crate::workload::sql::{What, Words};

/// Replaces the marks of parameters by literals; `None` if there are others than there are literals.
pub(super) fn bind(sql: &[u8], dialect: Dialect, literals: &[impl AsRef<[u8]>]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(sql.len() + 16 * literals.len());
    let (mut copied, mut count) = (0, 0);
    let mut dollar = None;
    for word in Words::new(sql, dialect) {
        let (begin, number) = match word.what {
            What::Mark(b'?') if dialect == Dialect::Mysql => {
                count += 1;
                (word.at, count)
            }
            What::Mark(b'$') => {
                dollar = Some(word.at);
                continue;
            }
            What::Number if dollar.is_some_and(|at| at + 1 == word.at) => {
                let digits = std::str::from_utf8(&sql[word.at..word.end]);
                (word.at - 1, digits.ok()?.parse::<usize>().ok()?)
            }
            _ => continue,
        };
        out.extend_from_slice(&sql[copied..begin]);
        out.extend_from_slice(literals.get(number.checked_sub(1)?)?.as_ref());
        if out.len() > LONGEST_BYTES {
            return None;
        }
        copied = word.end;
    }
    out.extend_from_slice(&sql[copied..]);
    Some(out)
}
