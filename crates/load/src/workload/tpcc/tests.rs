use std::collections::{BTreeMap, BTreeSet};

use super::inputs::{Customer, Kind};
use super::tables::TpccTables;
use super::*;
use crate::driver::{Admin, Arg, Args, Fault, Reply};
use crate::workload::generator::generator;
use crate::workload::tables::{Progress, TableSet};
use crate::workload::{Account, Next, Script};

fn tpcc(warehouses: u64, think_times: bool) -> Tpcc {
    let options = TpccOptions {
        warehouses,
        terminals: random::index(terminals(warehouses)),
        think_times,
        seed: 7,
        acknowledgements: None,
        dilation: 1,
        has_tables: false,
    };
    Tpcc::new(options, Dialect::Postgres)
}

fn draws(warehouses: u64) -> Draws {
    let constants = Constants::draw(3);
    Draws {
        warehouses,
        constants,
    }
}

/// The names of a transaction's statements, and its pauses.
fn transaction(tpcc: &Tpcc, script: &mut TpccScript) -> (Vec<String>, Vec<Next>) {
    assert!(script.begin());
    let (mut args, mut names, mut pauses) = (Args::default(), Vec::new(), Vec::new());
    while let Some(next) = script.next(&mut args) {
        let Next::Statement(id) = next else {
            pauses.push(next);
            assert!(pauses.len() < 10);
            continue;
        };
        let sql = &tpcc.catalogue().statements()[id].sql;
        assert_eq!(sql.matches('?').count(), args.values().len(), "{sql}");
        names.push(
            tpcc.catalogue().types()[tpcc.catalogue().type_of(id)]
                .name
                .to_string(),
        );
    }
    script.acknowledged().unwrap();
    (names, pauses)
}

#[test]
fn every_transaction_runs_to_its_end() {
    let tpcc = tpcc(2, false);
    let mut script = tpcc.script(0);
    let mut kinds = [0; 5];
    for _ in 0..230 {
        let (names, pauses) = transaction(&tpcc, &mut script);
        assert!(pauses.is_empty());
        assert_eq!(names[0], "begin");
        let last = names.last().unwrap();
        assert!(last == "commit" || last == "rollback", "{names:?}");
        kinds[script.transaction().unwrap()] += 1;
    }
    // Ten decks of 23 cards: clause 5.2.4.2.
    assert_eq!(kinds, [100, 100, 10, 10, 10]);
    let Some(Account::Tpcc(account)) = tpcc.account() else {
        panic!("no account")
    };
    assert_eq!(account.begun, kinds);
}

#[test]
fn users_key_and_think_and_deliveries_wait_for_others() {
    let tpcc = tpcc(1, true);
    let mut script = tpcc.script(3);
    for _ in 0..23 {
        let (names, pauses) = transaction(&tpcc, &mut script);
        let Next::Wait { us } = pauses[0] else {
            panic!("{pauses:?}")
        };
        assert!(us >= 2_000_000);
        if script.transaction() == Some(Kind::Delivery.place()) {
            assert_eq!(
                (names.len(), &pauses[1..]),
                (0, &[Next::Sleep { us: 0 }][..])
            );
        } else {
            assert_eq!(pauses.len(), 1);
        }
    }
    let mut deliverer = tpcc.script(10);
    assert!(!deliverer.counts());
    let (names, pauses) = transaction(&tpcc, &mut deliverer);
    assert!(pauses.is_empty());
    assert_eq!(
        names
            .iter()
            .filter(|name| *name == "new_order_delete")
            .count(),
        10
    );
    assert!(deliverer.begin());
    let next = deliverer.next(&mut Args::default());
    assert!(
        matches!(next, Some(Next::Wait { .. })),
        "nothing is queued: {next:?}"
    );
    let Some(Account::Tpcc(account)) = tpcc.account() else {
        panic!("no account")
    };
    let deferred = account.deferred.unwrap();
    assert_eq!(
        (deferred.queued, deferred.done, deferred.done_in_time),
        (1, 1, 1)
    );
}

#[test]
fn shares_are_those_of_the_specification() {
    const ORDERS: usize = 20_000;
    let (draws, mut random) = (draws(3), generator(5, [1, 0]));
    let orders: Vec<_> = (0..ORDERS)
        .map(|_| draws.new_order(2, &mut random))
        .collect();
    let lines: Vec<_> = orders.iter().flat_map(|order| &order.lines).collect();
    let share = |count: usize, of: usize| count as f64 / of as f64;
    let near = |found: f64, expected: f64, of: usize| {
        // Five standard deviations of a binomial share.
        let error = (expected * (1.0 - expected) / of as f64).sqrt();
        assert!(
            (found - expected).abs() < 5.0 * error,
            "{found} is not {expected}"
        );
    };
    let rolled_back = orders.iter().filter(|order| order.rolls_back).count();
    near(share(rolled_back, ORDERS), 0.01, ORDERS);
    let remote = lines
        .iter()
        .filter(|line| line.supply_warehouse != 2)
        .count();
    near(share(remote, lines.len()), 0.01, lines.len());
    let unused = lines
        .iter()
        .filter(|line| line.item > random::ITEMS)
        .count();
    assert_eq!(unused, rolled_back, "one line of each");
    let counts: BTreeSet<_> = orders.iter().map(|order| order.lines.len()).collect();
    assert_eq!(counts, (5..=15).collect());
    let payments: Vec<_> = (0..ORDERS).map(|_| draws.payment(2, &mut random)).collect();
    let remote = payments
        .iter()
        .filter(|payment| payment.home.warehouse != 2);
    near(share(remote.count(), ORDERS), 0.15, ORDERS);
    let named = payments
        .iter()
        .filter(|payment| matches!(payment.customer, Customer::LastName(_)));
    near(share(named.count(), ORDERS), 0.6, ORDERS);
    assert!(
        payments
            .iter()
            .all(|payment| (100..=500_000).contains(&payment.cents))
    );
}

#[test]
fn one_warehouse_has_no_other() {
    let (draws, mut random) = (draws(1), generator(5, [1, 0]));
    for _ in 0..2_000 {
        let order = draws.new_order(1, &mut random);
        assert!(order.lines.iter().all(|line| line.supply_warehouse == 1));
        let payment = draws.payment(1, &mut random);
        assert_eq!(payment.home, payment.place);
    }
}

#[test]
fn terminals_stand_in_different_districts() {
    let tpcc = tpcc(2, false);
    let places: BTreeSet<_> = (0..20)
        .map(|client| match tpcc.role(client) {
            Role::Terminal(place) => (place.warehouse, place.district),
            Role::Deliverer => panic!("{client}"),
        })
        .collect();
    assert_eq!(places.len(), 20);
}

/// Keeps the rows that it is given, by table.
#[derive(Default)]
struct Keeper(BTreeMap<String, Vec<Vec<String>>>);

impl Admin for Keeper {
    fn server_version(&mut self) -> Result<String, Fault> {
        unreachable!("nobody asks")
    }

    fn execute(&mut self, _: &str) -> Result<Reply, Fault> {
        Ok(Reply::default())
    }

    fn query_column(&mut self, _: &str) -> Result<Vec<Option<String>>, Fault> {
        unreachable!("nobody asks")
    }

    fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        next_row: &mut dyn FnMut(&mut Args) -> bool,
    ) -> Result<u64, Fault> {
        let rows = self.0.entry(table.to_owned()).or_default();
        let (mut args, before) = (Args::default(), rows.len());
        while next_row(&mut args) {
            assert_eq!(args.values().len(), columns.len(), "{table}");
            rows.push(args.values().iter().map(|arg| shown(arg, &args)).collect());
        }
        Ok((rows.len() - before) as u64)
    }
}

fn shown(arg: &Arg, args: &Args) -> String {
    match arg {
        Arg::Int(value) => value.to_string(),
        Arg::Text(range) => String::from_utf8(args.text(range).to_vec()).unwrap(),
        Arg::Double(value) => panic!("{value}"),
        Arg::Null => "NULL".into(),
    }
}

fn loaded(warehouses: u64, part: usize, seed: u64) -> BTreeMap<String, Vec<Vec<String>>> {
    let set = TpccTables { warehouses, seed };
    let mut keeper = Keeper::default();
    let progress = Progress::default();
    let rows = set
        .build(&mut keeper, Dialect::Sqlite, part, &progress)
        .unwrap();
    assert_eq!(rows, set.rows(part));
    assert_eq!(rows, progress.rows());
    keeper.0
}

#[test]
fn a_warehouse_is_the_same_in_any_data_set() {
    let alone = loaded(1, 2, 1);
    assert_eq!(alone, loaded(5, 2, 1));
    assert_ne!(alone, loaded(1, 2, 2));
    let counts: Vec<_> = alone
        .iter()
        .map(|(name, rows)| (name.as_str(), rows.len()))
        .collect();
    let lines = alone[tables::ORDER_LINE].len();
    assert!((270_000..330_000).contains(&lines));
    assert_eq!(
        counts,
        [
            (tables::CUSTOMER, 30_000),
            (tables::DISTRICT, 10),
            (tables::HISTORY, 30_000),
            (tables::NEW_ORDER, 9_000),
            (tables::ORDER_LINE, lines),
            (tables::ORDERS, 30_000),
            (tables::STOCK, 100_000),
            (tables::WAREHOUSE, 1),
        ]
    );
    // Each customer of a district has one order.
    let of_first: BTreeSet<_> = alone[tables::ORDERS]
        .iter()
        .filter(|row| row[1] == "1")
        .map(|row| row[3].clone())
        .collect();
    assert_eq!(of_first.len(), 3_000);
    let names = alone[tables::CUSTOMER]
        .iter()
        .filter(|row| row[1] == "1" && row[5] == "BARBARBAR");
    assert!(names.count() > 0);
    let original = alone[tables::STOCK]
        .iter()
        .filter(|row| row[16].contains("ORIGINAL"))
        .count();
    assert!((9_000..11_000).contains(&original), "{original}");
}

#[test]
fn there_are_twelve_conditions() {
    let numbers: Vec<_> = consistency::conditions()
        .iter()
        .map(|one| one.number)
        .collect();
    assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
}
