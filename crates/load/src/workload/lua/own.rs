//! The statements that one client's script has prepared.

use mlua::Value;

use super::statement::Verb;
use crate::driver::template::Template;
use crate::driver::{Args, Dialect};

/// One prepared statement.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) sql: Vec<u8>,
    pub(super) verb: Verb,
    /// Its number on the present connection, once it is prepared there.
    pub(super) number: Option<usize>,
    /// A letter for each parameter's type. The server keeps the types of the first execution.
    kinds: Vec<u8>,
    /// It is sent as text, its parameters in place.
    text: Option<Template>,
}

impl Own {
    pub(super) fn new(sql: &[u8]) -> Self {
        Self {
            verb: Verb::of(sql),
            sql: sql.to_vec(),
            number: None,
            kinds: Vec::new(),
            text: None,
        }
    }

    /// Its text, once more in the template, and what keeps it.
    pub(super) fn memory_bytes(&self) -> usize {
        2 * self.sql.len() + size_of::<Self>()
    }

    /// From here on it is sent as text.
    pub(super) fn splice(&mut self, dialect: Dialect) {
        let sql = String::from_utf8_lossy(&self.sql);
        self.text = Some(Template::new(&sql, dialect));
    }

    pub(super) fn is_text(&self) -> bool {
        self.text.is_some()
    }

    /// Parameters of other kinds make another statement of it for the server.
    pub(super) fn expect(&mut self, kinds: &[u8]) {
        if self.kinds != kinds {
            if !self.kinds.is_empty() {
                self.number = None;
            }
            self.kinds = kinds.to_vec();
        }
    }

    /// The parameters, in the arguments.
    pub(super) fn bind(&self, values: &[Value], args: &mut Args) -> Result<(), String> {
        args.clear();
        for (place, kind) in self.kinds.iter().enumerate() {
            bind(*kind, values.get(place), args)?;
        }
        Ok(())
    }

    /// The statement with its parameters in place, as text in the arguments.
    pub(super) fn write(
        &self,
        values: &[Value],
        dialect: Dialect,
        args: &mut Args,
    ) -> Result<(), String> {
        let Some(template) = &self.text else {
            return Err("a statement that was to be text is not".into());
        };
        if values.len() > template.parameter_count() {
            return Err(format!(
                "{} parameters for a statement that has {}: {}",
                values.len(),
                template.parameter_count(),
                String::from_utf8_lossy(&self.sql)
            ));
        }
        let mut bound = Args::default();
        for place in 0..template.parameter_count() {
            let kind = self.kinds.get(place).copied().unwrap_or(b't');
            bind(kind, values.get(place), &mut bound)?;
        }
        template.splice(&bound, dialect, args.begin_sql());
        Ok(())
    }
}

fn bind(kind: u8, value: Option<&Value>, args: &mut Args) -> Result<(), String> {
    match (kind, value) {
        (_, None | Some(Value::Nil)) => args.push_null(),
        (b'i', Some(value)) => args.push_int(whole(value)?),
        (b'd', Some(value)) => args.push_double(number(value)?),
        (_, Some(Value::String(text))) => {
            args.push_text(|out| out.extend_from_slice(&text.as_bytes()));
        }
        (_, Some(value)) => {
            let text = super::state::text(value);
            args.push_text(|out| out.extend_from_slice(text.as_bytes()));
        }
    }
    Ok(())
}

#[expect(clippy::cast_possible_truncation)]
fn whole(value: &Value) -> Result<i64, String> {
    match value {
        Value::Integer(value) => Ok(*value),
        other => number(other).map(|value| value as i64),
    }
}

fn number(value: &Value) -> Result<f64, String> {
    match value {
        Value::Integer(value) => Ok(*value as f64),
        Value::Number(value) => Ok(*value),
        other => Err(format!(
            "a parameter that was bound as a number is a {}",
            other.type_name()
        )),
    }
}
