//! Accounts become events.

use super::conductor::RunOptions;
use super::totals::Totals;
use crate::measure::{Backlog, Delay, IntervalTally, Latencies, Period, PhaseTally, Schedule};
use crate::report::{
    BacklogSummary, ClientCost, DelaySummary, ErrorSummary, Event, Interval, PROTOCOL, RateSummary,
    Ready, StatementSummary, StatementTypeInfo, Summary, TransactionSummary,
};
use crate::workload::{Catalogue, StatementType};

/// At the end, a rate that was held is behind by no more than this share of the phase: the begun
/// transactions fall no further short of the asked ones.
const BEHIND_AT_END: f64 = 0.01;
/// Below this share of the phase, a backlog may come and go: its transactions are in the latencies.
/// Above it, the latencies show little else.
const BEHIND_EVER: f64 = 0.1;
/// And however long the phase is, what was so far behind did not keep up.
const BEHIND_EVER_S: f64 = 1.0;

pub(super) fn ready_event(
    options: &RunOptions,
    statements: Vec<StatementTypeInfo>,
    server_version: String,
    connect_s: f64,
) -> Event {
    Event::Ready(Ready {
        program: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        protocol: PROTOCOL,
        workload: options.workload.into(),
        mix: options.mix.clone(),
        server_version,
        seed: options.seed,
        clients: options.clients,
        workers: options.workers,
        connect_s,
        statements,
    })
}

/// Each type with one statement of it; none if the workload cannot say beforehand which it needs.
pub fn statement_infos(catalogue: &Catalogue) -> Vec<StatementTypeInfo> {
    if catalogue.shows_used_types_only {
        return Vec::new();
    }
    let types = catalogue.types().iter().enumerate();
    types
        .map(|(index, statement_type)| StatementTypeInfo {
            name: statement_type.name.clone(),
            kind: statement_type.kind,
            sql: catalogue.example(index).to_owned(),
        })
        .collect()
}

pub(super) fn interval_event(
    period: &Period,
    schedule: &Schedule,
    tally: &IntervalTally,
    options: &RunOptions,
) -> Event {
    let phase_start_ns = schedule.phase_start_ns(period.phase);
    let since_s = |at_ns: u64| at_ns.saturating_sub(phase_start_ns) as f64 / 1e9;
    Event::Interval(Interval {
        phase: period.phase,
        start_s: since_s(period.start_ns),
        end_s: since_s(period.end_ns),
        transactions: tally.transactions.count(),
        reads: tally.reads,
        writes: tally.writes,
        others: tally.others,
        errors: tally.errors,
        retries: tally.retries,
        reconnects: tally.reconnects,
        latency_us: tally.transactions.summary(&options.percentiles),
        backlog: options.rate.map(|_| backlog(tally.arrived, tally.backlog)),
    })
}

pub(super) fn summary(
    options: &RunOptions,
    types: &[StatementType],
    totals: &Totals,
    seconds: f64,
    cost: ClientCost,
) -> Summary {
    let measured = &totals.measured;
    // A phase that was cut at its very beginning has no rate.
    let per_s = |count: u64| {
        if seconds > 0.0 {
            count as f64 / seconds
        } else {
            0.0
        }
    };
    Summary {
        workload: options.workload.into(),
        mix: options.mix.clone(),
        clients: options.clients,
        workers: options.workers,
        seconds,
        transactions: measured.transactions.count(),
        transactions_per_s: per_s(measured.transactions.count()),
        statements: measured.statements(),
        reads: measured.reads,
        writes: measured.writes,
        others: measured.others,
        statements_per_s: per_s(measured.statements()),
        latency_us: measured
            .transactions
            .summary_with_histogram(&options.percentiles),
        statement_types: statement_types(types, &totals.phase, &options.percentiles),
        errors: errors(types, &totals.phase),
        failed_transactions: totals.phase.failed_transactions,
        retries: measured.retries,
        reconnects: measured.reconnects,
        rate: options.rate.map(|rate| RateSummary {
            asked_per_s: rate.per_s,
            arrivals: rate.arrivals.name(),
            achieved_per_s: per_s(measured.transactions.count()),
            backlog: backlog(measured.arrived, totals.backlog()),
            held: is_held(totals.backlog(), seconds),
            start_delay_us: delay_us(totals.phase.lateness),
        }),
        client: ClientCost {
            delay_us: delay_us(totals.phase.delay),
            waited_for_cpu_s: totals.waited_ns.map(|waited_ns| waited_ns as f64 / 1e9),
            ..cost
        },
        ..Summary::default()
    }
}

pub(super) fn statement_types(
    types: &[StatementType],
    phase: &PhaseTally,
    percentiles: &[f64],
) -> Vec<StatementSummary> {
    let types = types.iter().zip(&phase.statements);
    types
        .map(|(statement_type, tally)| StatementSummary {
            name: statement_type.name.clone(),
            kind: statement_type.kind,
            count: tally.latencies.count(),
            rows: tally.rows,
            affected: tally.affected,
            errors: tally.errors,
            latency_us: tally.latencies.summary(percentiles),
        })
        .collect()
}

/// Kinds of transactions; one that never came has no latency.
pub(super) fn transaction_types(
    kinds: &[&'static str],
    phase: &PhaseTally,
    options: &RunOptions,
) -> Vec<TransactionSummary> {
    let kinds = kinds.iter().enumerate();
    kinds
        .map(|(place, &name)| {
            let latencies = phase.kinds.get(place);
            TransactionSummary {
                name,
                count: latencies.map_or(0, Latencies::count),
                latency_us: latencies.and_then(|known| known.summary(&options.percentiles)),
            }
        })
        .collect()
}

fn errors(types: &[StatementType], phase: &PhaseTally) -> Vec<ErrorSummary> {
    let entries = phase.errors.iter();
    entries
        .map(|((code, type_index), entry)| ErrorSummary {
            code: code.clone(),
            statement: type_index.map(|index| types[index].name.clone()),
            message: entry.message.clone(),
            transient: entry.transient,
            count: entry.count,
        })
        .collect()
}

fn backlog(arrived: u64, backlog: Backlog) -> BacklogSummary {
    BacklogSummary {
        arrived,
        waiting: backlog.waiting,
        behind_s: backlog.behind_ns as f64 / 1e9,
        most_waiting: backlog.most_waiting,
        most_behind_s: backlog.most_behind_ns as f64 / 1e9,
    }
}

fn is_held(backlog: Backlog, seconds: f64) -> bool {
    let behind_s = backlog.behind_ns as f64 / 1e9;
    let most_behind_s = backlog.most_behind_ns as f64 / 1e9;
    behind_s <= seconds * BEHIND_AT_END
        && most_behind_s <= (seconds * BEHIND_EVER).min(BEHIND_EVER_S)
}

fn delay_us(delay: Delay) -> Option<DelaySummary> {
    (delay.count > 0).then(|| DelaySummary {
        mean: delay.sum_ns as f64 / delay.count as f64 / 1e3,
        max: delay.max_ns as f64 / 1e3,
    })
}
