use std::collections::BTreeSet;

use super::inputs::Customer;
use super::*;
use crate::cli::scripted::tests::script;
use crate::driver::{Args, Dialect};
use crate::workload::generator::generator;
use crate::workload::{Account, Next, Script};

fn tpcc(warehouses: u64) -> Tpcc {
    let options = TpccOptions {
        warehouses,
        terminals: random::index(warehouses * DISTRICTS),
        seed: 7,
        acknowledgements: None,
        has_tables: false,
    };
    let script = script("tpcc", Dialect::Postgres, &[]);
    Tpcc::new(options, script.catalogue().unwrap())
}

fn draws(warehouses: u64) -> Run {
    Run {
        warehouses,
        terminals: 1,
        constants: Constants::draw(3),
    }
}

/// The names of a transaction's statements.
fn transaction(tpcc: &Tpcc, script: &mut TpccScript) -> Vec<String> {
    assert!(script.begin());
    let (mut args, mut names) = (Args::default(), Vec::new());
    while let Some(next) = script.next(&mut args) {
        let Next::Statement(id) = next else {
            panic!("{next:?}")
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
    names
}

#[test]
fn statements_are_numbered_as_the_catalogue_has_them() {
    let tpcc = tpcc(1);
    let of = |statement: usize| {
        let sql = tpcc.catalogue().statements()[statement].sql.clone();
        (
            tpcc.catalogue().types()[tpcc.catalogue().type_of(statement)]
                .name
                .clone(),
            sql,
        )
    };
    for (statement, name, words) in [
        (statements::BEGIN_SNAPSHOT, "begin", "REPEATABLE READ"),
        (statements::COMMIT, "commit", "COMMIT"),
        (statements::ITEM, "item_select", "SELECT i_price"),
        (
            statements::BY_LAST_NAME,
            "customer_by_last_name_select",
            "ORDER BY c_first",
        ),
        (
            statements::BAD_CUSTOMER_UPDATE,
            "bad_credit_customer_update",
            "c_data=?",
        ),
        (statements::LINES, "lines_select", "SELECT ol_i_id"),
        (
            statements::STOCK_COUNT,
            "stock_count_select",
            "COUNT(DISTINCT",
        ),
        (statements::STOCK + 9, "stock_select", "s_dist_10"),
    ] {
        let (found, sql) = of(statement);
        assert_eq!(found, name);
        assert!(sql.contains(words) && !sql.contains("  "), "{sql}");
    }
}

#[test]
fn every_transaction_runs_to_its_end() {
    let tpcc = tpcc(2);
    let mut script = tpcc.script(0);
    let mut kinds = [0; 5];
    for _ in 0..230 {
        let names = transaction(&tpcc, &mut script);
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
    let tpcc = tpcc(2);
    let places: BTreeSet<_> = (0..20).map(|client| tpcc.place(client).key()).collect();
    assert_eq!(places.len(), 20);
}
