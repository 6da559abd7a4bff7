use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::driver::{Arg, Args};
use crate::workload::{Next, Script};

fn ledger(accounts: u64) -> Ledger {
    let options = LedgerOptions {
        accounts,
        filler_bytes: 12,
        seed: 7,
        acknowledgements: None,
        bears_errors: false,
    };
    Ledger::new(options, Dialect::Mysql)
}

/// Integers of each statement, and the length of the entry's filler.
#[derive(Debug, PartialEq)]
struct Transaction {
    statements: Vec<(String, Vec<i64>)>,
    filler: Vec<u8>,
}

fn rest_of_transaction(ledger: &Ledger, script: &mut LedgerScript) -> Transaction {
    let mut args = Args::default();
    let mut found = Transaction {
        statements: Vec::new(),
        filler: Vec::new(),
    };
    while let Some(next) = script.next(&mut args) {
        let Next::Statement(id) = next else {
            panic!("{next:?}")
        };
        let mut ints = Vec::new();
        for arg in args.values() {
            match arg {
                Arg::Int(value) => ints.push(*value),
                Arg::Text(range) => found.filler = args.text(range).to_vec(),
                other => panic!("{other:?}"),
            }
        }
        let name = ledger.catalogue().types()[ledger.catalogue().type_of(id)]
            .name
            .to_string();
        found.statements.push((name, ints));
    }
    assert_eq!(script.next(&mut args), None, "the end is the end");
    found
}

fn transaction(ledger: &Ledger, script: &mut LedgerScript) -> Transaction {
    assert!(script.begin());
    rest_of_transaction(ledger, script)
}

#[test]
fn what_one_account_loses_the_other_gains() {
    let ledger = ledger(5);
    let mut script = ledger.script(3);
    let mut pairs = BTreeSet::new();
    for number in 1..=400 {
        let Transaction { statements, filler } = transaction(&ledger, &mut script);
        let names: Vec<_> = statements.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "begin",
                "account_update",
                "account_update",
                "entry_insert",
                "commit"
            ]
        );
        let entry = &statements[3].1;
        let [client, of_client, source, target, amount] = entry[..] else {
            panic!("{entry:?}")
        };
        assert_eq!((client, of_client), (3, number));
        assert!((1..=1000).contains(&amount) && source != target);
        let changes: BTreeMap<i64, i64> = statements[1..3]
            .iter()
            .map(|(_, ints)| (ints[1], ints[0]))
            .collect();
        assert_eq!(
            changes,
            BTreeMap::from([(source, -amount), (target, amount)])
        );
        assert!(
            statements[1].1[1] < statements[2].1[1],
            "the lower id first"
        );
        assert_eq!(filler.len(), 12);
        pairs.insert((source, target));
    }
    assert_eq!(pairs.len(), 5 * 4, "every pair of accounts, and no other");
}

#[test]
fn a_transaction_that_is_run_again_is_the_same() {
    let ledger = ledger(100);
    let mut script = ledger.script(0);
    let first = transaction(&ledger, &mut script);
    assert!(script.begin_again());
    // It may be rolled back at any statement.
    script.next(&mut Args::default());
    script.next(&mut Args::default());
    assert!(script.begin_again());
    assert_eq!(rest_of_transaction(&ledger, &mut script), first);
    let second = transaction(&ledger, &mut script);
    assert_eq!(second.statements[3].1[1], 2, "the next number");
    assert_ne!(second.filler, first.filler);
}

#[test]
fn transfers_depend_on_seed_client_and_number_alone() {
    let first = |ledger: &Ledger, client| transaction(ledger, &mut ledger.script(client)).filler;
    assert_eq!(first(&ledger(100), 4), first(&ledger(100), 4));
    assert_ne!(first(&ledger(100), 4), first(&ledger(100), 5));
}

#[test]
fn two_accounts_are_enough() {
    let ledger = ledger(2);
    let mut script = ledger.script(0);
    for _ in 0..50 {
        let entry = transaction(&ledger, &mut script).statements.remove(3).1;
        assert_eq!(BTreeSet::from([entry[2], entry[3]]), BTreeSet::from([1, 2]));
    }
}
