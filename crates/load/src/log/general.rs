//! The general log of MySQL and MariaDB: an entry is written when its statement begins, without a duration.

use std::io;

use super::moment::{self, Moment};
use super::{Event, Inputs, Sink, Statement, What};

/// An entry's session, its command and the rest of its line.
struct Head<'a> {
    moment: Option<Moment>,
    session: u64,
    command: &'a [u8],
    argument: &'a [u8],
}

const COMMANDS: [&str; 22] = [
    "Query",
    "Execute",
    "Prepare",
    "Connect",
    "Quit",
    "Init DB",
    "Close stmt",
    "Reset stmt",
    "Fetch",
    "Field List",
    "Ping",
    "Statistics",
    "Change user",
    "Refresh",
    "Kill",
    "Long Data",
    "Set option",
    "Binlog Dump",
    "Binlog Dump GTID",
    "Register Slave",
    "Reset connection",
    "Shutdown",
];

pub(super) fn begins_entry(line: &[u8]) -> bool {
    head(line).is_some()
}

/// Reads `TIME<tab>   ID COMMAND<tab>ARGUMENT`; MariaDB leaves the time out where it is the last one's.
fn head(line: &[u8]) -> Option<Head<'_>> {
    let moment = moment::read(line);
    let mut rest = match moment {
        Some(moment) => {
            let zone = line[moment.bytes..].iter();
            &line[moment.bytes + zone.take_while(|byte| **byte != b'\t').count()..]
        }
        None => line,
    };
    let tabs = rest.iter().take_while(|byte| **byte == b'\t').count();
    if tabs == 0 {
        return None;
    }
    rest = rest[tabs..].trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let session = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    rest = rest[digits..].strip_prefix(b" ")?;
    let end = rest.iter().position(|&byte| byte == b'\t');
    let command = rest[..end.unwrap_or(rest.len())].trim_ascii_end();
    let is_known = COMMANDS.iter().any(|known| known.as_bytes() == command);
    is_known.then(|| Head {
        moment,
        session,
        command,
        argument: end.map_or(&[][..], |end| &rest[end + 1..]),
    })
}

pub(super) fn read(mut inputs: Inputs, sink: &mut dyn Sink) -> io::Result<()> {
    let mut line = Vec::new();
    let mut now: Option<Moment> = None;
    let mut open: Option<Event> = None;
    while inputs.next_line(&mut line)? {
        let Some(head) = head(&line) else {
            match &mut open {
                Some(Event {
                    what: What::Statement(statement),
                    ..
                }) => {
                    statement.sql.push(b'\n');
                    statement.sql.extend_from_slice(&line);
                }
                _ if now.is_some() => sink.unread("a line that begins no entry", inputs.line()),
                _ => {}
            }
            continue;
        };
        if let Some(event) = open.take() {
            sink.take(event)?;
        }
        now = head.moment.or(now);
        let Some(now) = now else {
            sink.unread("an entry without a time", inputs.line());
            continue;
        };
        let what = match head.command {
            b"Query" | b"Execute" => What::Statement(Statement {
                sql: head.argument.to_vec(),
                prepared: head.command == b"Execute",
                ..Statement::default()
            }),
            b"Connect" => What::Connect,
            b"Quit" => What::Quit,
            b"Init DB" => What::Statement(Statement {
                sql: [b"USE `", head.argument, b"`"].concat(),
                database: Some(head.argument.to_vec()),
                ..Statement::default()
            }),
            b"Prepare" | b"Close stmt" | b"Reset stmt" | b"Ping" | b"Statistics" | b"Long Data" => {
                continue;
            }
            _ => {
                sink.unread("a command that is no SQL", inputs.line());
                continue;
            }
        };
        let event = |what| Event {
            session: head.session,
            at_us: now.us,
            step_us: now.step_us,
            what,
            line: inputs.line(),
        };
        if what == What::Connect
            && let Some(database) = database_of(head.argument)
        {
            sink.take(event(What::Connect))?;
            open = Some(event(What::Statement(Statement {
                sql: [b"USE `", database, b"`"].concat(),
                database: Some(database.to_vec()),
                ..Statement::default()
            })));
            continue;
        }
        open = Some(event(what));
    }
    open.map_or(Ok(()), |event| sink.take(event))
}

/// The database of `root@localhost on shop using Socket`.
fn database_of(argument: &[u8]) -> Option<&[u8]> {
    let on = argument.windows(4).position(|own| own == b" on ")? + 4;
    let rest = &argument[on..];
    let end = rest.windows(7).position(|own| own == b" using ");
    let name = rest[..end.unwrap_or(rest.len())].trim_ascii();
    (!name.is_empty()).then_some(name)
}
