//! The blocking connection for what is not timed.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use super::Account;
use super::error::server_error;
use super::handshake::Handshake;
use super::insert::{BulkInsert, insert_bytes};
use super::local_data::LocalData;
use super::opening::Opening;
use super::outbound::Outbound;
use super::reply::{ReplyReader, parse_number};
use super::wire::{Wire, protocol};
use crate::driver::socket::Socket;
use crate::driver::{Admin, Answer, Args, Fault, QUESTION_LIMIT, Reply};

const COM_QUERY: u8 = 0x03;
const END: u8 = 0xFE;
const ERROR: u8 = 0xFF;
const NULL: u8 = 0xFB;
const LOCAL_FILE: u8 = 0xFB;
const READ_BYTES: usize = 16 << 10;

/// A logged-in connection that waits for its replies.
pub(super) struct MysqlAdmin {
    wire: Wire<Socket>,
    server_version: String,
    limit: Option<Duration>,
    work_limit: Option<Duration>,
}

impl MysqlAdmin {
    /// Connects and logs in.
    pub(super) fn log_in(account: &Arc<Account>) -> Result<Self, Fault> {
        let mut socket =
            Socket::connect(&account.route).map_err(|error| account.unreachable(&error))?;
        let handshake = Handshake::offering_local_data();
        let mut opening = Opening::new(Arc::clone(account), handshake, Arc::default());
        let mut outbound = Outbound::default();
        loop {
            match opening.poll(socket.stream(), &mut outbound) {
                Poll::Ready(opened) => break drop(opened?),
                Poll::Pending => socket.wait(outbound.is_waiting())?,
            }
        }
        Ok(Self {
            wire: Wire::new(socket),
            server_version: opening.server_version().to_owned(),
            limit: Some(QUESTION_LIMIT),
            work_limit: account.statement_limit,
        })
    }

    fn query(&mut self, sql: &[u8]) -> Result<(), Fault> {
        let mut command = Vec::with_capacity(sql.len() + 1);
        command.push(COM_QUERY);
        command.extend_from_slice(sql);
        self.command(&command)
    }

    /// Sends a command: its code, and the SQL.
    fn command(&mut self, command: &[u8]) -> Result<(), Fault> {
        let sql = command.get(1..).unwrap_or_default();
        self.wire.socket().begin_statement(sql, self.limit);
        self.wire.command(command)
    }

    /// Reads a whole reply, whatever it holds. Its packets go on with the numbers of the
    /// command's.
    fn reply(&mut self) -> Result<Reply, Fault> {
        let mut replies = ReplyReader::default();
        let mut buffer = vec![0; READ_BYTES];
        replies.begin(self.wire.sequence());
        loop {
            let read = self.wire.read_some(&mut buffer)?;
            if replies.feed(&buffer[..read])?
                && let Poll::Ready(reply) = replies.take()
            {
                return reply;
            }
        }
    }

    /// The next packet of a result; an error ends it.
    fn packet(&mut self) -> Result<&[u8], Fault> {
        match self.wire.receive()? {
            error @ [ERROR, ..] => Err(server_error(error)),
            packet => Ok(packet),
        }
    }

    /// INSERTs of many rows each, a few to a transaction.
    fn insert(
        &mut self,
        table: &str,
        columns: &[&str],
        next_row: &mut dyn FnMut(&mut Args) -> bool,
    ) -> Result<u64, Fault> {
        let longest = self.query_value("SELECT @@max_allowed_packet")?;
        let longest = longest.and_then(|bytes| bytes.parse().ok());
        let mut insert = BulkInsert::new(table, columns, insert_bytes(longest));
        let mut args = Args::default();
        let mut loaded = 0;
        let mut statements = 0_u64;
        self.execute("BEGIN")?;
        while let Some(sql) = insert.next_statement(&mut args, next_row) {
            self.command(sql)?;
            loaded += self.reply()?.affected;
            statements += 1;
            if statements.is_multiple_of(STATEMENTS_PER_COMMIT) {
                self.execute("COMMIT")?;
                self.execute("BEGIN")?;
            }
        }
        self.execute("COMMIT")?;
        Ok(loaded)
    }

    /// LOAD DATA LOCAL, its file made up as it is sent.
    fn load_data(
        &mut self,
        table: &str,
        columns: &[&str],
        next_row: &mut dyn FnMut(&mut Args) -> bool,
    ) -> Result<u64, Fault> {
        let columns = columns.join(",");
        // The file is ours to make up, so its name means nothing.
        let sql = format!(
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET ascii ({columns})"
        );
        let mut data = LocalData::new(next_row);
        let mut loaded = 0;
        while data.begin_statement() {
            self.query(sql.as_bytes())?;
            if self.packet()?.first() != Some(&LOCAL_FILE) {
                return Err(protocol(
                    "LOAD DATA was answered without asking for the data",
                ));
            }
            while let Some(chunk) = data.next_chunk() {
                self.wire.send(chunk)?;
            }
            self.wire.send(&[])?;
            let acknowledged = self.packet()?.get(1..).and_then(parse_number);
            let (affected, _) =
                acknowledged.ok_or_else(|| protocol("an acknowledgement that breaks off"))?;
            loaded += affected;
        }
        Ok(loaded)
    }

    /// Whether the server lets clients send data for LOAD DATA (MySQL 8 does not by default).
    fn takes_local_data(&mut self) -> Result<bool, Fault> {
        Ok(self.query_value("SELECT @@local_infile")?.as_deref() == Some("1"))
    }
}

/// Few enough to keep the transaction small, enough to make few flushes: about 8 MiB.
const STATEMENTS_PER_COMMIT: u64 = 8;

impl Admin for MysqlAdmin {
    fn begin_work(&mut self) -> Result<(), Fault> {
        self.limit = self.work_limit;
        Ok(())
    }

    fn server_version(&mut self) -> Result<String, Fault> {
        Ok(self.server_version.clone())
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Fault> {
        self.execute_bytes(sql.as_bytes())
    }

    fn execute_bytes(&mut self, sql: &[u8]) -> Result<Reply, Fault> {
        self.query(sql)?;
        self.reply()
    }

    fn query_column(&mut self, sql: &str) -> Result<Vec<Option<String>>, Fault> {
        self.query(sql.as_bytes())?;
        let head = self.packet()?;
        let Some((1.., [])) = parse_number(head) else {
            return Err(protocol(format!("no result came back for: {sql}")));
        };
        while self.packet()?.first() != Some(&END) {}
        let mut answer = Answer::default();
        loop {
            let row = self.packet()?;
            if row.first() == Some(&END) && row.len() < 9 {
                return Ok(answer.values);
            }
            answer.push(first_column(row)?)?;
        }
    }

    fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        next_row: &mut dyn FnMut(&mut Args) -> bool,
    ) -> Result<u64, Fault> {
        // No `unique_checks=0`: on MariaDB that turns on a bulk mode which sorts into temporary
        // files first, and was a fifth slower here on rows that come in order anyway.
        if self.takes_local_data()? {
            self.load_data(table, columns, next_row)
        } else {
            self.insert(table, columns, next_row)
        }
    }
}

fn first_column(row: &[u8]) -> Result<Option<String>, Fault> {
    if row.first() == Some(&NULL) {
        return Ok(None);
    }
    let value =
        parse_number(row).and_then(|(length, rest)| rest.get(..usize::try_from(length).ok()?));
    let value = value.ok_or_else(|| protocol("a row that breaks off"))?;
    Ok(Some(String::from_utf8_lossy(value).into_owned()))
}
