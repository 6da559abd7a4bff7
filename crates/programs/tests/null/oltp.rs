//! The OLTP workload's options: what contradicts itself is refused before anything starts.

use crate::program::{account, program, summary};

fn refused(verb: &str, arguments: &[&str], words: &str) {
    let output = program(verb, "null:", arguments);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
    assert!(complaint.contains(words), "{arguments:?}: {complaint}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
}

#[test]
fn the_exponent_belongs_to_its_distribution() {
    for (arguments, words) in [
        (
            &["--zipfian-exponent", "1"][..],
            "--zipfian-exponent needs --distribution zipfian",
        ),
        (
            &["--distribution", "gaussian", "--zipfian-exponent", "1"],
            "needs --distribution zipfian",
        ),
        (
            &["--distribution", "zipfian", "--zipfian-exponent", "nan"],
            "from 0 to 10",
        ),
        (
            &["--distribution", "zipfian", "--zipfian-exponent=-1"],
            "from 0 to 10",
        ),
        (&["--distribution", "special-1.0"], "special-1.0.20"),
    ] {
        for verb in ["prepare", "run"] {
            refused(verb, arguments, words);
        }
    }
}

#[test]
fn counts_belong_to_their_mix() {
    refused(
        "run",
        &["--mix", "read-only", "--index-updates", "2"],
        "--index-updates does not apply to --mix read-only",
    );
    refused(
        "run",
        &["--mix", "point-select", "--point-selects", "2"],
        "does not apply to --mix point-select",
    );
    let nothing = [
        "--mix",
        "write-only",
        "--index-updates",
        "0",
        "--non-index-updates",
        "0",
        "--delete-inserts",
        "0",
    ];
    refused("run", &nothing, "the transaction is empty");
    refused("run", &["--range-size", "0"], "--range-size");
}

#[test]
fn the_table_of_0_4_is_alone_and_has_its_own_mixes() {
    for verb in ["prepare", "run", "cleanup"] {
        refused(
            verb,
            &["--schema", "sbtest", "--tables", "2"],
            "one table, not 2",
        );
    }
    for mix in ["read-write", "write-only", "insert", "delete"] {
        for verb in ["prepare", "run"] {
            refused(verb, &["--schema", "sbtest", "--mix", mix], mix);
        }
    }
    refused("run", &["--schema", "sbtest3"], "sbtestN");
}

#[test]
fn every_distribution_runs_on_tables_of_any_size() {
    for distribution in [
        "special",
        "special-1.0.20",
        "uniform",
        "zipfian",
        "pareto",
        "gaussian",
    ] {
        for rows in ["1", "3", "2147483647"] {
            let arguments = [
                "--distribution",
                distribution,
                "--rows",
                rows,
                "--transactions",
                "50",
            ];
            let summary = summary("null:", "complex", &arguments);
            assert_eq!(account(&summary, "point_select")["count"], 500, "{summary}");
        }
    }
}

/// A thread that waits for a CPU keeps its clients waiting: there are more of them than CPUs.
#[test]
fn clients_have_threads_of_their_own_up_to_sixteen() {
    for (clients, workers) in [("1", 1), ("9", 9), ("40", 16)] {
        let arguments = ["--clients", clients, "--transactions", "100"];
        let summary = summary("null:", "complex", &arguments);
        assert_eq!(summary["workers"], workers, "{summary}");
    }
}
