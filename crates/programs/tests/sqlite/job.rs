//! Jobs on a real database: stages, what they count, and what ends them early.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use diskproof_load::driver::{Admin, Args, Driver, Kind, Protocol, ServerError, Statement};
use diskproof_load::engine::{
    Ending, Failure, Message, Outside, Patience, Retry, RunError, RunOptions, close_failed_job,
    run_job,
};
use diskproof_load::report::{Event, Operation, Report, StatementTypeInfo, Summary};
use diskproof_load::workload::{
    Catalogue, Closing, Expected, Job, Next, Run, Script, Stage, Work, Workload,
};

use crate::target::driver;

/// So many executions of one statement by each client; the parameter counts up.
struct Loop {
    catalogue: Catalogue,
    count: i64,
    parameter: bool,
    sleep_us: Option<u64>,
    expected_code: &'static str,
    expected: Expected,
}

impl Loop {
    fn of(sql: &str, count: i64) -> Self {
        let mut catalogue = Catalogue::default();
        catalogue.add("statement", Kind::Write, [Statement::prepared(sql)]);
        Self {
            catalogue,
            count,
            parameter: sql.contains('?'),
            sleep_us: None,
            expected_code: "",
            expected: Expected::default(),
        }
    }
}

impl Workload for Loop {
    type Script = Counting;

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn script(&self, client: usize) -> Counting {
        let first = i64::try_from(client).unwrap() * self.count;
        Counting {
            at: first,
            end: first + self.count,
            parameter: self.parameter,
            sleep_us: self.sleep_us,
            slept: true,
            sent: true,
        }
    }

    fn expects(&self, _: usize, error: &ServerError) -> bool {
        error.code == self.expected_code
    }

    fn expected(&self) -> Expected {
        self.expected
    }
}

struct Counting {
    at: i64,
    end: i64,
    parameter: bool,
    sleep_us: Option<u64>,
    slept: bool,
    sent: bool,
}

impl Script for Counting {
    fn begin(&mut self) -> bool {
        self.slept = self.sleep_us.is_none();
        self.sent = false;
        self.at += 1;
        self.at <= self.end
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
        if !self.slept {
            self.slept = true;
            return self.sleep_us.map(|us| Next::Sleep { us });
        }
        if self.sent {
            return None;
        }
        self.sent = true;
        args.clear();
        if self.parameter {
            args.push_int(self.at);
        }
        Some(Next::Statement(0))
    }
}

/// Stages that are known from the start.
struct List {
    stages: std::vec::IntoIter<Stage<Loop>>,
    /// Rows that the table must have after a stage of this name.
    review: Option<(&'static str, u64)>,
    closed: bool,
}

impl Job for List {
    type Workload = Loop;

    fn statements(&self) -> Vec<StatementTypeInfo> {
        Vec::new()
    }

    fn next(&mut self, _: &mut dyn Admin) -> Result<Option<Stage<Loop>>, Failure> {
        Ok(self.stages.next())
    }

    fn review(
        &mut self,
        done: &Operation,
        admin: &mut dyn Admin,
    ) -> Result<Option<String>, Failure> {
        let Some((_, rows)) = self.review.filter(|(name, _)| *name == done.name) else {
            return Ok(None);
        };
        let found = admin
            .query_value("SELECT COUNT(*) FROM t")
            .map_err(|fault| Failure::from_fault("counting", &fault))?;
        let right = found.as_deref() == Some(&*rows.to_string());
        Ok((!right).then(|| format!("the table has {found:?} rows")))
    }

    fn closing(&mut self) -> Closing {
        self.closed = true;
        Box::new(|admin| {
            admin
                .execute("DROP TABLE IF EXISTS t")
                .map_err(|fault| Failure::from_fault("dropping", &fault))?;
            Ok(())
        })
    }

    fn leaves(&self) -> String {
        "drop it yourself".into()
    }
}

fn stage(name: &'static str, planned: u64, run: Run<Loop>) -> Stage<Loop> {
    Stage {
        test: "test".into(),
        name: name.into(),
        planned,
        work: Work::Run(run),
    }
}

fn run(workload: Loop, clients: usize) -> Run<Loop> {
    Run {
        workload: Arc::new(workload),
        clients,
        connecting_counts: false,
        limit: None,
        counts_affected: false,
        turns: None,
    }
}

#[derive(Default)]
struct Keep {
    operations: Vec<Operation>,
    names: Vec<&'static str>,
    summary: Option<Summary>,
}

impl Report for Keep {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.names.push(match event {
            Event::Ready(_) => "ready",
            Event::Measuring { .. } => "measuring",
            Event::Operation(operation) => {
                self.operations.push((**operation).clone());
                "operation"
            }
            Event::Measured { .. } => "measured",
            Event::Idle => "idle",
            Event::BrokenOff(summary) => {
                self.summary = Some((**summary).clone());
                "broken off"
            }
            Event::Summary(summary) => {
                self.summary = Some((**summary).clone());
                "summary"
            }
            _ => "other",
        });
        Ok(())
    }
}

/// Runs the stages on an empty table `t`; the interrupt comes after so long.
fn perform(
    stages: Vec<Stage<Loop>>,
    interrupt: Option<Duration>,
) -> (Result<Ending, RunError>, Keep) {
    perform_reviewed(stages, interrupt, None)
}

fn perform_reviewed(
    stages: Vec<Stage<Loop>>,
    interrupt: Option<Duration>,
    review: Option<(&'static str, u64)>,
) -> (Result<Ending, RunError>, Keep) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("job.db");
    std::fs::File::create(&path).unwrap();
    let driver = driver(&format!("sqlite:{}?synchronous=off", path.display()));
    let mut admin = driver.admin().unwrap();
    admin
        .execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        .unwrap();
    let options = RunOptions {
        workload: "list",
        mix: "all".into(),
        seed: 1,
        clients: 2,
        workers: 2,
        protocol: Protocol::Prepared,
        warm_up: Duration::ZERO,
        seconds: None,
        transactions: None,
        rate: None,
        retry: Retry::default(),
        patience: Patience::default(),
        report_interval: None,
        percentiles: vec![50.0],
        lockstep: false,
        dilation: 1,
    };
    let mut job = List {
        stages: stages.into_iter(),
        review,
        closed: false,
    };
    let mailbox = channel();
    if let Some(after) = interrupt {
        let outbox = mailbox.0.clone();
        thread::spawn(move || {
            thread::sleep(after);
            let _ = outbox.send(Message::FromOutside(Outside::Interrupt));
        });
    }
    let mut report = Keep::default();
    let driver = Arc::new(driver);
    let ending = run_job(&driver, &mut job, &options, mailbox, &mut report);
    if ending.is_err() && !job.closed {
        close_failed_job(&driver, &mut job, Duration::from_secs(20)).expect("it is dropped");
    }
    assert!(job.closed);
    let left = admin
        .query_value("SELECT COUNT(*) FROM sqlite_master")
        .unwrap();
    assert_eq!(left.as_deref(), Some("0"), "nothing is left");
    (ending, report)
}

/// Three questions of each client, which must return so many rows together.
fn reading(rows: u64) -> Loop {
    Loop {
        expected: Expected {
            rows: Some(rows),
            ..Expected::default()
        },
        ..Loop::of("SELECT * FROM t", 3)
    }
}

const INSERT: &str = "INSERT INTO t VALUES (?)";

#[test]
fn stages_follow_one_another_and_add_up() {
    let duplicates = Loop {
        expected_code: "SQLITE_CONSTRAINT",
        ..Loop::of(INSERT, 50)
    };
    let skipped = Stage {
        work: Work::Skip("there is none".into()),
        ..stage("rollback", 7, run(Loop::of(INSERT, 1), 1))
    };
    let reading = Run {
        connecting_counts: true,
        ..run(reading(6 * 200), 2)
    };
    let stages = vec![
        stage("insert", 200, run(Loop::of(INSERT, 100), 2)),
        stage("insert_duplicates", 50, run(duplicates, 1)),
        skipped,
        stage("select", 6, reading),
    ];
    let (ending, report) = perform(stages, None);
    assert_eq!(ending.expect("a good job"), Ending::Complete);
    let operation = "operation";
    assert_eq!(
        report.names,
        [
            "ready",
            "measuring",
            operation,
            operation,
            operation,
            operation,
            "measured",
            "idle",
            "summary"
        ]
    );
    let counts: Vec<_> = report
        .operations
        .iter()
        .map(|o| (o.count, o.affected, o.rows, o.errors))
        .collect();
    assert_eq!(
        counts,
        [
            (200, 200, 0, 0),
            (50, 0, 0, 0),
            (0, 0, 0, 0),
            (6, 0, 1200, 0)
        ]
    );
    let skipped = &report.operations[2];
    assert_eq!(skipped.skipped.as_deref(), Some("there is none"));
    assert_eq!(skipped.seconds, None, "what was not run has no time");
    let summary = report.summary.expect("a summary");
    assert_eq!(summary.transactions, 256);
    assert_eq!(summary.statement_types[0].count, 256);
    let seconds: f64 = report.operations.iter().filter_map(|o| o.seconds).sum();
    assert!((summary.seconds - seconds).abs() < 1e-9);
    assert!(report.operations.iter().all(|o| o.extrapolated_s.is_none()));
    assert_eq!(summary.operations.len(), 4);
}

#[test]
fn a_wrong_number_of_rows_is_an_error() {
    let (ending, report) = perform(vec![stage("select", 3, run(reading(1), 1))], None);
    assert_eq!(ending.expect("a job with a flaw"), Ending::Complete);
    assert_eq!(report.operations[0].errors, 1);
    let error = &report.summary.expect("a summary").errors[0];
    assert_eq!(
        (error.code.as_str(), error.statement.as_deref()),
        ("rows", Some("select"))
    );
    assert!(
        error.message.contains("0 rows came back, where 1"),
        "{}",
        error.message
    );
}

#[test]
fn a_limit_cuts_a_loop_and_says_what_it_would_have_taken() {
    let slow = Loop {
        sleep_us: Some(20_000),
        ..Loop::of(INSERT, 1000)
    };
    let limited = Run {
        limit: Some(Duration::from_millis(300)),
        ..run(slow, 1)
    };
    let next = stage("insert", 2, run(Loop::of("SELECT 1", 2), 1));
    let (ending, report) = perform(vec![stage("slow", 1000, limited), next], None);
    assert_eq!(ending.expect("a good job"), Ending::Complete);
    let cut = &report.operations[0];
    assert!((2..=15).contains(&cut.count), "{}", cut.count);
    let seconds = cut.seconds.expect("a time");
    assert!(
        (0.28..3.0).contains(&seconds),
        "to the last one's end: {seconds}"
    );
    let all = cut.extrapolated_s.expect("an estimate");
    assert!((all / (seconds * 1000.0 / cut.count as f64) - 1.0).abs() < 1e-9);
    assert!(cut.cut);
    assert_eq!(report.operations[1].count, 2, "the job goes on");
    assert!(!report.operations[1].cut);
}

#[test]
fn an_interrupt_ends_the_stage_and_the_job() {
    let slow = Loop {
        sleep_us: Some(5_000),
        ..Loop::of(INSERT, 100_000)
    };
    let stages = vec![
        stage("slow", 100_000, run(slow, 1)),
        stage("never", 1, run(Loop::of("SELECT 1", 1), 1)),
    ];
    let (ending, report) = perform(stages, Some(Duration::from_millis(300)));
    assert_eq!(ending.expect("a summary"), Ending::Interrupted);
    assert_eq!(report.operations.len(), 1);
    assert!(report.operations[0].extrapolated_s.is_some());
    assert!(report.summary.expect("a summary").transactions > 0);
}

#[test]
fn what_is_refused_again_and_again_is_given_up() {
    let stages = vec![stage(
        "refused",
        10_000,
        run(Loop::of("INSERT INTO t VALUES ('x' || ?)", 10_000), 1),
    )];
    let (ending, report) = perform(stages, None);
    assert_eq!(report.operations[0].errors, 10);
    assert!(report.operations[0].extrapolated_s.is_none());
    match ending {
        Err(RunError::Failed(failure)) => assert_eq!(failure.code, "errors", "{}", failure.message),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_wrong_number_of_changes_is_an_error_of_that_operation_alone() {
    let changing = |name, expected| {
        let changing = Loop {
            expected: Expected {
                affected: Some(expected),
                ..Expected::default()
            },
            ..Loop::of("INSERT INTO t VALUES (NULL),(NULL),(NULL)", 2)
        };
        let run = Run {
            counts_affected: true,
            ..run(changing, 1)
        };
        stage(name, 6, run)
    };
    let (_, report) = perform(vec![changing("right", 6), changing("wrong", 7)], None);
    let told = report.operations.iter();
    let counts: Vec<_> = told.map(|o| (o.count, o.affected, o.errors)).collect();
    assert_eq!(
        counts,
        [(6, 6, 0), (6, 6, 1)],
        "rows are counted, not statements"
    );
    let errors = report.summary.expect("a summary").errors;
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].statement.as_deref(), Some("wrong"));
    let message = &errors[0].message;
    assert_eq!(message, "6 rows were changed, where 7 must have");
}

#[test]
fn what_a_stage_leaves_behind_is_looked_at() {
    let stages = || {
        let insert = |name| {
            stage(
                name,
                5,
                run(Loop::of("INSERT INTO t VALUES (NULL + ?)", 5), 1),
            )
        };
        vec![insert("first"), insert("second")]
    };
    let (_, right) = perform_reviewed(stages(), None, Some(("second", 10)));
    assert!(right.operations.iter().all(|o| o.errors == 0));
    let (_, wrong) = perform_reviewed(stages(), None, Some(("first", 4)));
    let errors: Vec<_> = wrong.operations.iter().map(|o| o.errors).collect();
    assert_eq!(errors, [1, 0]);
    let errors = wrong.summary.expect("a summary").errors;
    assert_eq!(errors[0].code, "tables");
    assert!(errors[0].message.contains('5'), "{}", errors[0].message);
}

#[test]
fn a_stage_cut_before_its_first_end_is_marked() {
    let slow = Loop {
        sleep_us: Some(50_000),
        ..Loop::of("INSERT INTO t VALUES ('x' || ?)", 1000)
    };
    let limited = Run {
        limit: Some(Duration::from_millis(120)),
        ..run(slow, 1)
    };
    let good = stage("good", 1, run(Loop::of("SELECT 1", 1), 1));
    let (_, report) = perform(vec![good, stage("slow", 1000, limited)], None);
    let cut = &report.operations[1];
    assert_eq!((cut.count, cut.extrapolated_s, cut.cut), (0, None, true));
}

#[test]
fn what_was_measured_before_a_failure_is_told() {
    let stages = vec![
        stage("insert", 5, run(Loop::of(INSERT, 5), 1)),
        stage("drop", 1, run(Loop::of("DROP TABLE t", 1), 1)),
    ];
    let (ending, report) = perform_reviewed(stages, None, Some(("drop", 0)));
    assert!(matches!(ending, Err(RunError::Failed(_))), "{ending:?}");
    assert_eq!(report.names.last(), Some(&"broken off"));
    let summary = report.summary.expect("of what there is");
    assert_eq!(summary.operations[0].count, 5);
}

/// Whose tables cannot be dropped.
struct Stuck;

impl Job for Stuck {
    type Workload = Loop;

    fn statements(&self) -> Vec<StatementTypeInfo> {
        Vec::new()
    }

    fn next(&mut self, _: &mut dyn Admin) -> Result<Option<Stage<Loop>>, Failure> {
        Ok(None)
    }

    fn closing(&mut self) -> Closing {
        Box::new(|_| {
            thread::sleep(Duration::from_secs(60));
            Ok(())
        })
    }

    fn leaves(&self) -> String {
        "drop table t yourself".into()
    }
}

#[test]
fn clearing_away_after_a_failure_has_a_limit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("job.db");
    std::fs::File::create(&path).unwrap();
    let driver = Arc::new(driver(&format!("sqlite:{}", path.display())));
    let begun = std::time::Instant::now();
    let left = close_failed_job(&driver, &mut Stuck, Duration::from_millis(100));
    assert!(begun.elapsed() < Duration::from_secs(30));
    let said = left.expect_err("it hangs").message;
    assert!(said.contains("drop table t yourself"), "{said}");
}
