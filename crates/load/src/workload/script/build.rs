//! Parsed scripts become a catalogue of statements, and the ways in which they are sent.

use std::collections::HashMap;

use super::parser::{Parsed, Sql, Use};
use super::source::Source;
use super::{File, Files, ScriptError, Sent, Weighted};
use crate::driver::template::Template;
use crate::driver::{Dialect, Kind, Protocol, Statement};
use crate::workload::Catalogue;
use crate::workload::sql::{Bracket, Mistake, Place, in_short};

/// Builds the catalogue while it goes through the scripts.
pub(super) struct Builder {
    pub(super) catalogue: Catalogue,
    /// How often each name was used.
    names: HashMap<String, usize>,
    protocol: Protocol,
    dialect: Dialect,
}

impl Builder {
    pub(super) fn new(protocol: Protocol, dialect: Dialect) -> Self {
        Self {
            catalogue: Catalogue::default(),
            names: HashMap::new(),
            protocol,
            dialect,
        }
    }

    /// Takes the sources with what was read in them.
    pub(super) fn files(
        &mut self,
        sources: Vec<Weighted>,
        scripts: Vec<Parsed>,
    ) -> Result<Files, ScriptError> {
        let brackets = scripts.iter().flat_map(|script| &script.statements);
        let has_transactions = brackets
            .into_iter()
            .any(|sql| sql.bracket == Bracket::Begins);
        let mut files = Files {
            all: Vec::new(),
            dialect: self.dialect,
            total_weight: 0,
        };
        for (Weighted { source, weight }, parsed) in sources.into_iter().zip(scripts) {
            let statements = parsed.statements.into_iter();
            let statements = statements
                .map(|sql| self.statement(&source, sql))
                .collect::<Result<_, _>>()
                .map_err(|mistake| ScriptError(source.tell(&mistake)))?;
            files.total_weight += u64::from(weight);
            files.all.push(File {
                steps: parsed.steps,
                statements,
                weight_up_to: files.total_weight,
                source,
            });
        }
        if has_transactions {
            self.catalogue.roll_back_with("ROLLBACK");
        }
        Ok(files)
    }

    fn statement(&mut self, source: &Source, sql: Sql) -> Result<Sent, Mistake> {
        let name = self.name(source, &sql);
        let prepared = self.protocol == Protocol::Prepared && self.can_be_prepared(&sql);
        if !prepared {
            let type_index = self.catalogue.types().len();
            let written = Statement::as_text(sql.written);
            self.catalogue.add(name, sql.kind, [written]);
            return Ok(Sent::Text {
                type_index,
                pieces: sql.pieces,
                uses: sql.uses,
            });
        }
        sql.uses.iter().try_for_each(can_be_bound)?;
        let with_marks = sql.pieces.join("?");
        if Template::new(&with_marks, self.dialect).parameter_count() != sql.uses.len() {
            return Err(Mistake::new(
                sql.at,
                "a question mark or a quotation in this statement would be read as a parameter; \
                 send it with --protocol text",
            ));
        }
        let statement = Statement::prepared(with_marks);
        let id = self.catalogue.add(name, sql.kind, [statement]);
        Ok(Sent::Prepared { id, uses: sql.uses })
    }

    /// The MySQL family prepares only some kinds of statements; what has no parameters and runs
    /// no query gains nothing from it.
    fn can_be_prepared(&self, sql: &Sql) -> bool {
        let queries = sql.kind != Kind::Other || !sql.uses.is_empty() || sql.first_word == "CALL";
        let shows = matches!(&*sql.first_word, "SHOW" | "DESC" | "DESCRIBE");
        self.dialect != Dialect::Mysql || (queries && !shows)
    }

    /// `hot.sql:3 SELECT abalance FROM …`; a repeated name gets a number.
    fn name(&mut self, source: &Source, sql: &Sql) -> String {
        let name = format!(
            "{}:{} {}",
            source.name,
            sql.line,
            in_short(sql.written.as_bytes())
        );
        let alike = self.names.entry(name.clone()).or_insert(0);
        *alike += 1;
        match *alike {
            1 => name,
            number => format!("{name} ({number})"),
        }
    }
}

fn can_be_bound(mark: &Use) -> Result<(), Mistake> {
    let why = match mark.place {
        Place::Value => return Ok(()),
        Place::Quotation => "a variable in a quotation",
        Place::Name => "a variable that is part of a name",
    };
    let message = format!("{why} cannot be bound to a prepared statement; use --protocol text");
    Err(Mistake::new(mark.at, message))
}
