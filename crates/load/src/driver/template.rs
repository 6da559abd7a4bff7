//! A statement's text, cut at its parameters.

/// SQL between `?` marks: one piece more than there are parameters.
///
/// A `?` inside a string, a quoted name, a dollar-quoted body or a comment is not a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<String>,
}

impl Template {
    #[must_use]
    pub fn new(sql: &str) -> Self {
        let mut pieces = Vec::new();
        let mut start = 0;
        let mut at = 0;
        while at < sql.len() {
            let rest = &sql[at..];
            if rest.starts_with('?') {
                pieces.push(sql[start..at].to_owned());
                at += 1;
                start = at;
            } else {
                at += opaque_bytes(rest);
            }
        }
        pieces.push(sql[start..].to_owned());
        Self { pieces }
    }

    /// The text before each parameter and after the last.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().map(String::as_str)
    }

    #[must_use]
    pub fn parameter_count(&self) -> usize {
        self.pieces.len() - 1
    }

    /// The statement with `$1`, `$2`, … in place of the marks.
    #[must_use]
    pub fn numbered(&self) -> String {
        let mut sql = self.pieces[0].clone();
        for (index, piece) in self.pieces[1..].iter().enumerate() {
            sql.push('$');
            sql.push_str(&(index + 1).to_string());
            sql.push_str(piece);
        }
        sql
    }
}

/// Number of bytes at the start of `sql` that cannot hold a parameter: a whole quotation or
/// comment, or else one character.
fn opaque_bytes(sql: &str) -> usize {
    let one_character = sql.chars().next().map_or(0, char::len_utf8);
    if let Some(quote @ ('\'' | '"')) = sql.chars().next() {
        return quoted_bytes(sql, quote);
    }
    if sql.starts_with("--") {
        return through(sql, "\n", 2);
    }
    if sql.starts_with("/*") {
        return through(sql, "*/", 2);
    }
    match dollar_tag(sql) {
        Some(tag) => through(sql, tag, tag.len()),
        None => one_character,
    }
}

/// A quotation from its opening to its closing mark. A doubled mark reads as two quotations
/// side by side, which comes to the same.
fn quoted_bytes(sql: &str, quote: char) -> usize {
    sql[1..].find(quote).map_or(sql.len(), |end| end + 2)
}

/// `$$` or `$tag$` at the start of a dollar-quoted string.
fn dollar_tag(sql: &str) -> Option<&str> {
    let inner = sql.strip_prefix('$')?;
    let end = inner.find('$')?;
    let is_tag = inner[..end]
        .chars()
        .enumerate()
        .all(|(index, c)| c == '_' || c.is_alphabetic() || (index > 0 && c.is_ascii_digit()));
    is_tag.then(|| &sql[..end + 2])
}

/// Through the first `end` that lies after `skip` bytes, or to the end of the text.
fn through(sql: &str, end: &str, skip: usize) -> usize {
    sql[skip..]
        .find(end)
        .map_or(sql.len(), |at| skip + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(sql: &str) -> String {
        Template::new(sql).numbered()
    }

    #[test]
    fn marks_become_numbers() {
        assert_eq!(numbered("SELECT 1"), "SELECT 1");
        assert_eq!(
            numbered("SELECT c FROM t WHERE id BETWEEN ? AND ?"),
            "SELECT c FROM t WHERE id BETWEEN $1 AND $2"
        );
        assert_eq!(numbered("?"), "$1");
        assert_eq!(Template::new("a ? b ? c").parameter_count(), 2);
    }

    #[test]
    fn marks_in_quotations_and_comments_stay() {
        for sql in [
            "SELECT '?'",
            "SELECT 'it''s ?'",
            "SELECT \"a?b\" FROM t",
            "SELECT $$ ? $$",
            "SELECT $body$ ? $ ? $body$",
            "SELECT 1 -- really?\n",
            "SELECT 1 /* really? */",
            "SELECT 'open ?",
        ] {
            assert_eq!(numbered(sql), sql);
            assert_eq!(Template::new(sql).parameter_count(), 0, "{sql}");
        }
    }

    #[test]
    fn marks_after_quotations_count() {
        assert_eq!(numbered("SELECT 'ä?', ?"), "SELECT 'ä?', $1");
        assert_eq!(numbered("SELECT 1 /* ? */ + ?"), "SELECT 1 /* ? */ + $1");
        assert_eq!(numbered("SELECT '' , ?"), "SELECT '' , $1");
    }
}
