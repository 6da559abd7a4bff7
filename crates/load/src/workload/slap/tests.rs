use super::*;
use crate::driver::{Arg, Args};
use crate::workload::{Next, Script};

/// mysqlslap's defaults.
pub(super) fn options() -> SlapOptions {
    SlapOptions {
        load_type: LoadType::Mixed,
        int_columns: 1,
        char_columns: 1,
        key: KeyColumn::None,
        secondary_indexes: 0,
        engine: None,
        rows: 99,
        unique_writes: 10,
        unique_queries: 10,
        queries_per_client: None,
        commit: None,
        detach: None,
        seed: 1,
    }
}

/// The types of what each transaction of a client sends.
fn transactions(slap: &Slap, client: usize) -> Vec<Vec<String>> {
    let mut script = slap.script(client);
    let mut args = Args::default();
    let mut all = Vec::new();
    while script.begin() {
        let mut names = Vec::new();
        while let Some(next) = script.next(&mut args) {
            let type_index = match next {
                Next::Statement(id) => slap.catalogue().type_of(id),
                Next::Reconnect { type_index } => type_index,
                other => panic!("{other:?}"),
            };
            names.push(slap.catalogue().types()[type_index].name.to_string());
        }
        all.push(names);
    }
    assert_eq!(all.len() as u64, slap.transactions_per_client());
    all
}

#[test]
fn a_client_cycles_through_the_list_and_ends() {
    let asked = SlapOptions {
        queries_per_client: Some(25),
        ..options()
    };
    let all = transactions(&Slap::new(&asked, Dialect::Mysql), 0).concat();
    assert_eq!(all.len(), 25);
    // The list ends with an INSERT and begins with one.
    assert_eq!(all[9..13], ["select", "insert", "insert", "select"]);
    let once = transactions(&Slap::new(&options(), Dialect::Mysql), 0);
    assert_eq!(once.len(), 11);
}

#[test]
fn commits_come_where_mysqlslap_sends_them() {
    let committing = |queries, dialect| {
        let options = SlapOptions {
            load_type: LoadType::Write,
            commit: Some(2),
            queries_per_client: Some(queries),
            ..options()
        };
        transactions(&Slap::new(&options, dialect), 0)
    };
    let (insert, commit) = ("insert", "commit");
    assert_eq!(
        committing(3, Dialect::Mysql),
        [vec![insert, insert, commit], vec![insert, commit]]
    );
    assert_eq!(
        committing(2, Dialect::Mysql),
        [vec![insert, insert, commit, commit]]
    );
    assert_eq!(
        committing(3, Dialect::Postgres),
        [
            vec!["begin", insert, insert, commit],
            vec!["begin", insert, commit]
        ]
    );
}

#[test]
fn a_transaction_that_was_rolled_back_is_the_same_again() {
    let options = SlapOptions {
        commit: Some(3),
        queries_per_client: Some(6),
        ..options()
    };
    let slap = Slap::new(&options, Dialect::Mysql);
    let mut script = slap.script(0);
    let mut args = Args::default();
    let mut rest =
        |script: &mut SlapScript| std::iter::from_fn(|| script.next(&mut args)).collect::<Vec<_>>();
    assert!(script.begin());
    rest(&mut script);
    assert!(script.begin());
    let second = rest(&mut script);
    assert!(script.begin_again());
    assert_eq!(rest(&mut script), second);
    assert!(!script.begin());
}

#[test]
fn clients_detach_before_the_first_statement_too() {
    let options = SlapOptions {
        load_type: LoadType::Read,
        detach: Some(2),
        queries_per_client: Some(3),
        ..options()
    };
    let all = transactions(&Slap::new(&options, Dialect::Mysql), 0);
    let (leave, ask) = ("reconnect", "select");
    assert_eq!(all, [vec![leave, ask], vec![ask], vec![leave, ask]]);
}

#[test]
fn the_statements_between_detachings_are_counted_anew_in_every_pass() {
    let options = SlapOptions {
        load_type: LoadType::Read,
        detach: Some(5),
        queries_per_client: Some(33),
        ..options()
    };
    let all = transactions(&Slap::new(&options, Dialect::Mysql), 0);
    let detached = all.iter().enumerate().filter(|(_, names)| names.len() == 2);
    let before: Vec<_> = detached.map(|(at, _)| at).collect();
    assert_eq!(before, [0, 5, 10, 11, 16, 21, 22, 27, 32]);
}

#[test]
fn keys_are_drawn_by_client_and_iteration() {
    let options = SlapOptions {
        load_type: LoadType::Key,
        key: KeyColumn::AutoIncrement,
        queries_per_client: Some(30),
        ..options()
    };
    let keys: Vec<_> = (1..=9).map(|key| key.to_string()).collect();
    let slap = Slap::new(&options, Dialect::Mysql);
    let drawn = |iteration, client| {
        let slap = slap.iteration(iteration, keys.clone());
        let mut script = slap.script(client);
        let mut args = Args::default();
        let mut drawn = Vec::new();
        while script.begin() {
            while script.next(&mut args).is_some() {
                let [Arg::Text(range)] = args.values() else {
                    panic!("{args:?}")
                };
                drawn.push(String::from_utf8(args.text(range).to_vec()).unwrap());
            }
        }
        drawn
    };
    assert_eq!(drawn(0, 0), drawn(0, 0));
    assert_ne!(drawn(0, 0), drawn(0, 1));
    assert_ne!(drawn(0, 0), drawn(1, 0));
    assert!(keys.iter().all(|key| drawn(0, 0).contains(key)));
}
