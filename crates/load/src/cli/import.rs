//! The verb `import`: a server's log becomes a load that can be replayed.

use std::cmp::Reverse;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::Stop;
use super::kernel_fence::reader::close_around;
use super::outside::when_interrupted;
use super::overseer::{again, is_overseen};
use super::stop::exit;
use crate::driver::Dialect;
use crate::engine::Failure;
use crate::log::{self, BinaryLog, Event, Format, Inputs, Sink, Spread};
use crate::recording::{Contents, Known, Recorder, is_recording};

/// Between two signs of progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);
/// Statements that are shown.
const SHOWN: usize = 8;

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The log's files, or captures of packets, plain or packed by gzip or zstd, in any order; files of another log do
    /// not belong to them
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,

    /// Binary logs of the same server and time, the oldest first: commits get their order (MySQL, MariaDB; not for packets)
    #[arg(long = "binlog", value_name = "FILE", num_args = 1..)]
    binlogs: Vec<PathBuf>,

    /// Where to write the load
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// What kind of log it is [default: recognised by its beginning]
    #[arg(long, value_name = "KIND")]
    format: Option<Format>,

    /// PostgreSQL's prefix of lines, from `SHOW log_line_prefix` [default: the usual ones are tried]
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<String>,

    /// Replace the values in statements by others of the same form, equal ones by equal ones. Names stay, comments go
    #[arg(long)]
    anonymise: bool,
}

/// Another process reads the log, in a fence: whoever wrote that may be hostile.
pub(super) fn import(args: &ImportArgs) -> Result<(), Stop> {
    if is_overseen() {
        return read(args);
    }
    let unfinished = unfinished(&args.output)?;
    open(&unfinished)?;
    let left = unfinished.clone();
    when_interrupted(move || drop(std::fs::remove_file(left)))?;
    let ended = again().status().map_err(|error| failed(&error))?;
    if ended.success() {
        return std::fs::rename(&unfinished, &args.output).map_err(|error| failed(&error));
    }
    let _ = std::fs::remove_file(&unfinished);
    if let Some(code) = ended.code() {
        exit(code);
    }
    if let Some(SIGINT | SIGTERM) = ended.signal() {
        return Err(Stop::Interrupted);
    }
    Err(failed(&format!(
        "the process that reads the log broke off ({ended}), perhaps for want of memory; no load was written"
    )))
}

fn failed(error: &dyn std::fmt::Display) -> Stop {
    Stop::Failed(Failure::new("import", error.to_string()))
}

/// Opens the file that the load is written to.
fn open(unfinished: &Path) -> Result<File, Stop> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        // It holds what the log does.
        .mode(0o600)
        .open(unfinished)
        .map_err(|error| Stop::Arguments(format!("{}: {error}", unfinished.display())))
}

fn read(args: &ImportArgs) -> Result<(), Stop> {
    let out = BufWriter::new(open(&unfinished(&args.output)?)?);
    let files = [&args.logs[..], &args.binlogs].concat();
    for path in &files {
        // The fence has no word for a pipe.
        let told = |why| Stop::Arguments(format!("{}: {why}", path.display()));
        crate::file::open(path).map_err(told)?;
    }
    close_around(files)?;
    let (_, head) = Inputs::new(args.logs.clone()).map_err(Stop::Arguments)?;
    let format = args.format.or_else(|| log::recognise(&head)).ok_or_else(|| {
        Stop::Arguments(format!(
            "{}: no log of statements is recognised at its beginning: that is of MySQL's slow, general or audit log, \
             of PostgreSQL's with log_min_duration_statement = 0 (as text, csvlog or jsonlog), not wrapped by syslog or \
             a cloud's JSON, or of packets with one of their protocols; --format says which",
            args.logs[0].display()
        ))
    })?;
    let (name, dialect) = (format.name(), format.dialect());
    // A capture does not have the server's numbers of connections.
    let has_none = dialect == Dialect::Postgres || format == Format::MysqlPackets;
    if !args.binlogs.is_empty() && has_none {
        let told = format!("--binlog is for a log that MySQL or MariaDB wrote, not a {name}");
        return Err(Stop::Arguments(told));
    }
    let binary = BinaryLog::read(&args.binlogs).map_err(Stop::Arguments)?;
    let told = |error: io::Error| failed(&error);
    let mut recorder = Recorder::new(out, dialect, args.anonymise).map_err(told)?;
    if !args.binlogs.is_empty() {
        let mut first = Recorder::new(io::sink(), dialect, false).map_err(told)?;
        first.noted = Some(Vec::new());
        let noted = pass(args, format, first)?.noted.unwrap_or_default();
        recorder.order = Some(Known::new(&noted, &binary.commits).map_err(|why| failed(&why))?);
        binary.tell_unread(&mut recorder);
    }
    let contents = pass(args, format, recorder)?.finish(name);
    let contents = contents.map_err(told)?;
    let unread = contents.unread.iter().map(|(reason, count, line)| {
        let place = format!(" (first in {} {line})", format.unit());
        let place = if *line > 0 { &place[..] } else { "" };
        format!("{count:>10}  {reason}{place}")
    });
    let unread: Vec<_> = unread.collect();
    if contents.statements == 0 {
        let asked = match format.dialect() {
            Dialect::Postgres => "does the server have log_min_duration_statement = 0?",
            _ => "does the server have long_query_time = 0, or general_log = ON?",
        };
        let unread = unread.join(";");
        let why = unread.trim();
        let why = if why.is_empty() { asked } else { why };
        let told = format!("no statement was read from this {name}: {why}");
        return Err(failed(&told));
    }
    let said = in_words(&contents, &unread, &args.output);
    // With nobody to read it, nothing is lost.
    let _ = crate::plain::Plain(io::stdout()).write_all(said.as_bytes());
    Ok(())
}

/// Reads the whole log.
fn pass<W: Write>(args: &ImportArgs, format: Format, to: Recorder<W>) -> Result<Recorder<W>, Stop> {
    let (inputs, _) = Inputs::new(args.logs.clone()).map_err(Stop::Arguments)?;
    let found = args.logs.iter().filter_map(|path| path.metadata().ok());
    let mut sink = Spread::new(Progress {
        shown: io::stderr().is_terminal(),
        at: Instant::now(),
        passed: inputs.passed(),
        bytes: found.map(|found| found.len()).sum(),
        to,
    });
    log::read(format, inputs, args.prefix.as_deref(), &mut sink)
        .and_then(|()| sink.flush())
        .map_err(|error| failed(&error))?;
    if sink.to.shown {
        show("");
    }
    Ok(sink.to.to)
}

/// Where the load is written until it is whole. A file that is no load is not overwritten.
fn unfinished(output: &Path) -> Result<PathBuf, Stop> {
    if let Ok(file) = File::open(output) {
        let mut mark = Vec::new();
        let _ = file.take(16).read_to_end(&mut mark);
        if !is_recording(&mark) {
            return Err(Stop::Arguments(format!(
                "{} is there and is not a load: name another file with --output",
                output.display()
            )));
        }
    }
    let mut name = output.as_os_str().to_owned();
    name.push(".part");
    Ok(name.into())
}

/// Puts a line of ours in the place of the last one; what others wrote goes through `Plain`, which no terminal obeys.
fn show(line: &str) {
    // With nobody to see it, nothing is lost.
    let _ = write!(io::stderr(), "\r{line}\x1b[K");
}

/// Shows how far the reading is.
struct Progress<W: Write> {
    shown: bool,
    at: Instant,
    passed: log::Passed,
    bytes: u64,
    to: Recorder<W>,
}

impl<W: Write> Sink for Progress<W> {
    fn take(&mut self, event: Event) -> io::Result<()> {
        if self.shown
            && self.to.contents.statements.is_multiple_of(1024)
            && self.at.elapsed() > PROGRESS_EVERY
        {
            self.at = Instant::now();
            let percent = 100 * self.passed.load(Ordering::Relaxed) / self.bytes.max(1);
            let statements = self.to.contents.statements;
            show(&format!("reading: {percent} %, {statements} statements"));
        }
        self.to.take(event)
    }

    fn unread(&mut self, reason: &'static str, line: u64) {
        self.to.unread(reason, line);
    }
}

fn in_words(contents: &Contents, unread: &[String], output: &Path) -> String {
    use std::fmt::Write as _;

    let mut said = String::new();
    let seconds = contents.length_us as f64 / 1e6;
    let rate = contents.statements as f64 / seconds.max(1e-6);
    let _ = writeln!(
        said,
        "{}: {} statements of {} sessions in {seconds:.1} s, {rate:.0} statements/s, {} sessions at once",
        contents.format,
        contents.statements,
        contents.sessions.len(),
        contents.most_at_once
    );
    if let Some((found, all)) = contents.ordered {
        let _ = writeln!(said, "{found} of {all} commits have the binary log's order");
    }
    let mut order: Vec<_> = contents.fingerprints.iter().collect();
    order.sort_by_key(|print| Reverse((print.total_us, print.count)));
    let total_us: u64 = order.iter().map(|print| print.total_us).sum();
    let _ = writeln!(
        said,
        "\n  {:>10} {:>6} {:>10}  statement",
        "count", "time", "mean"
    );
    for print in order.iter().take(SHOWN) {
        let share = 100.0 * print.total_us as f64 / (total_us.max(1)) as f64;
        let mean_ms = print.total_us as f64 / 1e3 / print.count.max(1) as f64;
        let text: String = print.text.chars().take(46).collect();
        let _ = writeln!(
            said,
            "  {:>10} {share:>4.0} % {mean_ms:>7.2} ms  {text}",
            print.count
        );
    }
    if order.len() > SHOWN {
        let _ = writeln!(said, "  and {} more", order.len() - SHOWN);
    }
    if !unread.is_empty() {
        let _ = writeln!(said, "\nNot read:\n  {}", unread.join("\n  "));
    }
    let _ = writeln!(said, "\n{}", output.display());
    said
}
