//! A blocking connection for tables, loading and questions.

use std::fmt::Write;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::{BufMut, BytesMut};
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{DataRowBody, ErrorResponseBody, Message};
use postgres_protocol::message::frontend;

use super::command_tag::affected_rows;
use super::error::Refusal;
use super::host::Host;
use super::opening::Opening;
use super::plan::Plan;
use super::statement::put_double;
use super::wire::{Wire, not_postgres};
use crate::driver::socket::Socket;
use crate::driver::{
    Admin, Answer, Arg, Args, Fault, Lines, Protocol, QUESTION_LIMIT, Reply, Unreadable,
};

/// Rows are sent in `CopyData` messages of about this size: one system call for hundreds of rows.
const COPY_CHUNK_BYTES: usize = 64 << 10;
const COPY_HEADER_BYTES: usize = 5;

pub(super) struct PostgresAdmin {
    wire: Wire,
    limit: Option<Duration>,
    work_limit: Option<Duration>,
}

/// The result of a statement: its counts and the first value of every row.
#[derive(Default)]
struct Outcome {
    reply: Reply,
    first_values: Answer,
}

impl PostgresAdmin {
    /// Connects and logs in.
    pub(super) fn log_in(host: &Arc<Host>) -> Result<Self, Fault> {
        let mut socket = Socket::connect(&host.route)
            .map_err(|error| Fault::unreachable(&host.endpoint, &error))?;
        let nothing = Plan::new(&[], Protocol::Text)?;
        let mut opening = Opening::begin(Arc::clone(host), Arc::new(nothing))?;
        let opened = loop {
            match opening.poll(socket.stream()) {
                Poll::Ready(opened) => break opened?,
                Poll::Pending => socket.wait(opening.wants_write())?,
            }
        };
        Ok(Self {
            wire: Wire::new(socket, opened.early),
            limit: Some(QUESTION_LIMIT),
            work_limit: host.statement_limit,
        })
    }

    fn send_query(&mut self, sql: &str) -> Result<(), Fault> {
        frontend::query(sql, &mut self.wire.out)
            .map_err(|error| Fault::Protocol(format!("cannot send a statement: {error}")))?;
        self.wire.begin_statement(sql, self.limit);
        self.wire.send()
    }

    /// Reads the reply to its end, so that the connection can be used again after an error.
    fn finish(&mut self) -> Result<Outcome, Fault> {
        let mut outcome = Outcome::default();
        let mut refusal = None;
        loop {
            match self.wire.receive()? {
                Message::DataRow(row) => {
                    outcome.first_values.push(first_value(&row)?)?;
                    outcome.reply.rows += 1;
                }
                Message::CommandComplete(body) => {
                    let tag = body.tag().map_err(not_postgres)?;
                    let affected = affected_rows(tag.as_bytes())?;
                    outcome.reply.affected = outcome.reply.affected.saturating_add(affected);
                }
                Message::ErrorResponse(body) => {
                    let error = Refusal::read(&body)?;
                    if error.is_fatal() {
                        return Err(error.into_fault());
                    }
                    refusal = Some(error);
                }
                Message::CopyInResponse(_) => {
                    frontend::copy_fail("rows come only through load", &mut self.wire.out)
                        .map_err(Fault::Lost)?;
                    self.wire.send()?;
                }
                Message::ReadyForQuery(_) => break,
                _ => {}
            }
        }
        match refusal {
            None => Ok(outcome),
            Some(refusal) => Err(refusal.into_fault()),
        }
    }

    /// Starts a COPY.
    fn begin_copy(&mut self, sql: &str) -> Result<(), Fault> {
        self.send_query(sql)?;
        loop {
            match self.wire.receive()? {
                Message::CopyInResponse(_) => return Ok(()),
                Message::ErrorResponse(body) => return Err(self.copy_refused(&body)?),
                Message::NoticeResponse(_) | Message::ParameterStatus(_) => {}
                _ => {
                    return Err(Fault::Protocol(
                        "an answer to COPY that does not ask for rows".into(),
                    ));
                }
            }
        }
    }

    /// Sends rows until there are no more or the server refuses them: a full disk is reported
    /// when it is full, not after the last row.
    fn copy_rows(&mut self, next_row: &mut dyn FnMut(&mut Args) -> bool) -> Result<(), Fault> {
        let mut args = Args::default();
        loop {
            args.clear();
            if !next_row(&mut args) {
                break;
            }
            if self.wire.out.is_empty() {
                begin_copy_data(&mut self.wire.out);
            }
            put_row(&args, &mut self.wire.out);
            if self.wire.out.len() >= COPY_CHUNK_BYTES {
                self.send_copy_data()?;
            }
        }
        if !self.wire.out.is_empty() {
            end_copy_data(&mut self.wire.out)?;
        }
        frontend::copy_done(&mut self.wire.out);
        self.wire.send()
    }

    /// Sends the rows in `out`, and looks whether the server has refused some.
    fn send_copy_data(&mut self) -> Result<(), Fault> {
        end_copy_data(&mut self.wire.out)?;
        self.wire.send()?;
        while let Some(message) = self.wire.try_receive()? {
            if let Message::ErrorResponse(body) = message {
                return Err(self.copy_refused(&body)?);
            }
        }
        Ok(())
    }

    /// The refusal of a COPY, once the rest of the server's reply has been read.
    fn copy_refused(&mut self, body: &ErrorResponseBody) -> Result<Fault, Fault> {
        let fault = Refusal::read(body)?.into_fault();
        if matches!(fault, Fault::Server(_)) {
            self.finish()?;
        }
        Ok(fault)
    }
}

impl Admin for PostgresAdmin {
    fn begin_work(&mut self) -> Result<(), Fault> {
        self.limit = self.work_limit;
        Ok(())
    }

    fn server_version(&mut self) -> Result<String, Fault> {
        let version = self.query_value("SHOW server_version")?;
        Ok(format!("PostgreSQL {}", version.unwrap_or_default()))
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Fault> {
        self.send_query(sql)?;
        Ok(self.finish()?.reply)
    }

    fn query_column(&mut self, sql: &str) -> Result<Vec<Option<String>>, Fault> {
        self.send_query(sql)?;
        Ok(self.finish()?.first_values.values)
    }

    /// COPY in its text format: the fastest way in that a plain account may use.
    fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        next_row: &mut dyn FnMut(&mut Args) -> bool,
    ) -> Result<u64, Fault> {
        self.begin_copy(&format!("COPY {table} ({}) FROM STDIN", columns.join(", ")))?;
        self.copy_rows(next_row)?;
        Ok(self.finish()?.reply.affected)
    }

    fn copy_in(&mut self, sql: &str, lines: &mut dyn Lines) -> Result<Reply, Fault> {
        self.begin_copy(sql)?;
        loop {
            match lines.next() {
                Ok(Some(lines)) => {
                    for chunk in lines.chunks(COPY_CHUNK_BYTES) {
                        begin_copy_data(&mut self.wire.out);
                        self.wire.out.extend_from_slice(chunk);
                        self.send_copy_data()?;
                    }
                }
                Ok(None) => break frontend::copy_done(&mut self.wire.out),
                // The server must not keep a part of them.
                Err(Unreadable) => {
                    let failed = frontend::copy_fail("the rows cannot be read", &mut self.wire.out);
                    break failed.map_err(Fault::Lost)?;
                }
            }
        }
        self.wire.send()?;
        Ok(self.finish()?.reply)
    }

    /// Statistics, or the planner guesses; and what marks rows as visible to all, which the first
    /// readers would write otherwise.
    fn settle(&mut self, table: &str) -> Result<(), Fault> {
        self.execute(&format!("VACUUM (ANALYZE) {table}")).map(drop)
    }
}

impl Drop for PostgresAdmin {
    fn drop(&mut self) {
        self.wire.close();
    }
}

fn first_value(row: &DataRowBody) -> Result<Option<String>, Fault> {
    let range = row.ranges().next().map_err(not_postgres)?;
    Ok(range
        .flatten()
        .map(|range| String::from_utf8_lossy(&row.buffer()[range]).into_owned()))
}

fn begin_copy_data(out: &mut BytesMut) {
    out.put_u8(b'd');
    out.put_i32(0);
}

/// Fills in the length of the `CopyData` message that takes up all of `out`.
fn end_copy_data(out: &mut BytesMut) -> Result<(), Fault> {
    let length = i32::try_from(out.len() - 1)
        .map_err(|_| Fault::Protocol("a row of 2 GiB or more cannot be sent".into()))?;
    out[1..COPY_HEADER_BYTES].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// One line of COPY's text format: columns between tabs, what would end them escaped.
fn put_row(args: &Args, out: &mut BytesMut) {
    for (index, value) in args.values().iter().enumerate() {
        if index > 0 {
            out.put_u8(b'\t');
        }
        match value {
            Arg::Int(value) => {
                write!(out, "{value}").expect("a growing buffer takes what is written");
            }
            Arg::Double(value) => put_double(*value, out),
            Arg::Text(range) => put_escaped(args.text(range), out),
            Arg::Null => out.extend_from_slice(b"\\N"),
        }
    }
    out.put_u8(b'\n');
}

fn put_escaped(text: &[u8], out: &mut BytesMut) {
    for &byte in text {
        match byte {
            b'\\' => out.put_slice(b"\\\\"),
            b'\t' => out.put_slice(b"\\t"),
            b'\n' => out.put_slice(b"\\n"),
            b'\r' => out.put_slice(b"\\r"),
            _ => out.put_u8(byte),
        }
    }
}
