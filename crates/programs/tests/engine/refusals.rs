//! What the server refuses: counted always, run again as the policy says.

use diskproof_load::engine::{Retry, RunOptions};
use diskproof_load::report::Summary;

use crate::run::{account, options, run, summary};
use crate::server::{Manners, Server};
use crate::steps::{ASK, Steps};

/// Every third statement is refused with this code.
fn refused_with(code: &'static str, retry: Retry) -> Summary {
    let server = Server::new(move |_| {
        Ok(Manners {
            refuses_with: Some(code),
            ..Manners::default()
        })
    });
    let options = RunOptions {
        retry,
        ..options(2, 1, 0.5)
    };
    let summary = summary(server, Steps::new(&[ASK, ASK]), &options);
    // Whatever the policy, each error is counted once, by its code and its statement.
    let [error] = &summary.errors[..] else {
        panic!("{:?}", summary.errors);
    };
    assert_eq!(
        (error.code.as_str(), error.statement.as_deref()),
        (code, Some("ask"))
    );
    assert_eq!(error.count, account(&summary, "ask").errors);
    assert_eq!(error.count, summary.retries + summary.failed_transactions);
    assert_eq!(error.transient, summary.retries > 0);
    assert!(error.count > 3, "{error:?}");
    summary
}

fn codes(list: &[&str]) -> Retry {
    Retry::Codes(list.iter().map(|&code| code.to_owned()).collect())
}

#[test]
fn a_deadlock_is_run_again_unless_it_is_not_to_be() {
    let summary = refused_with("1213", Retry::Transient);
    assert_eq!(summary.failed_transactions, 0);
    // A transaction's latency holds its retries: three statements and more.
    let latency_us = summary.latency_us.expect("some");
    assert!(latency_us.max > 3_000.0, "{latency_us:?}");
    for retry in [Retry::Never, codes(&["1205"])] {
        let summary = refused_with("1213", retry);
        assert_eq!(summary.retries, 0);
    }
}

#[test]
fn what_the_user_lists_is_run_again() {
    assert_eq!(refused_with("1062", Retry::Transient).retries, 0);
    assert_eq!(
        refused_with("1062", codes(&["1062", "1213"])).failed_transactions,
        0
    );
}

#[test]
fn a_run_of_nothing_but_retries_has_failed() {
    let server = Server::new(|_| {
        Ok(Manners {
            refuses_with: Some("1213"),
            refuses_all: true,
            ..Manners::default()
        })
    });
    let failure = run(server, Steps::new(&[ASK]), &options(1, 1, 1.0)).expect_err("no good");
    assert_eq!(failure.code, "errors");
    assert!(
        failure.message.contains("by ask: refused (1213)"),
        "{failure:?}"
    );
    // Five retries at once, then with pauses of 1, 2, 4 … 64, and 100 ms.
    let words = failure.message.split_once("met ").expect("a count").1;
    let met: u32 = words
        .split(' ')
        .next()
        .expect("it")
        .parse()
        .expect("a number");
    assert!((7..=22).contains(&met), "{failure:?}");
}
