//! How true a replay was, beside what all workloads say.

use std::io::{self, Write};

use crate::workload::replay::Certificate;

pub(super) fn write(certificate: &Certificate, out: &mut impl Write) -> io::Result<()> {
    let Certificate {
        sent,
        statements,
        late_us,
        own_us,
        server_us,
        ..
    } = certificate;
    let pace = match certificate.speed {
        Some(speed) => format!("{speed} times the log's speed"),
        None => "as fast as the order of commits allows".to_owned(),
    };
    writeln!(
        out,
        "\n  replayed {} sessions on {} connections, {pace}",
        certificate.sessions, certificate.connections
    )?;
    writeln!(out, "    statements      {sent:>12}   of {statements}")?;
    for (reason, count) in &certificate.left_out {
        writeln!(out, "      left out      {count:>12}   {reason}")?;
    }
    if let Some(refused) = &certificate.refused {
        writeln!(out, "      such as: {refused}")?;
    }
    writeln!(
        out,
        "    late, in ms              50 %       99 %    longest"
    )?;
    let behind = [
        ("in all", late_us),
        ("our own", own_us),
        ("the server's", server_us),
    ];
    for (whose, late) in behind {
        let [p50, p99, max] = [late.p50, late.p99, late.max].map(|us| us / 1e3);
        writeln!(out, "      {whose:<14} {p50:>10.3} {p99:>10.3} {max:>10.3}")?;
    }
    writeln!(
        out,
        "    a round trip    {:>12.3} ms",
        certificate.network_us / 1e3
    )?;
    let recorded = certificate.recorded_concurrency.map_or_else(
        || "not in the log".to_owned(),
        |recorded| format!("{recorded:.2} in the log"),
    );
    writeln!(
        out,
        "    at once         {:>12.2}   {recorded}",
        certificate.concurrency
    )?;
    writeln!(
        out,
        "    refused         {:>12}   as in the log; {} in the log alone, {} here alone",
        certificate.refusals_in_both,
        certificate.refusals_in_log_only,
        certificate.refusals_in_replay_only
    )?;
    writeln!(
        out,
        "    other rows      {:>12}   of {} replies whose rows the log has",
        certificate.rows_different, certificate.rows_compared
    )?;
    writeln!(
        out,
        "    overtook        {:>12}   of {} commits, one that overlapped them in the log",
        certificate.commits_overtook, certificate.commits
    )
}
