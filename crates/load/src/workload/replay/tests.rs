//! The order of commits.

use super::order::Order;

#[test]
fn commits_out_of_turn_are_waited_for_and_told() {
    let order = Order::default();
    assert!(order.allows(0));
    assert!(!order.allows(1));
    assert!(order.done(1), "before the first one");
    assert!(!order.allows(1));
    assert!(!order.done(0));
    assert!(order.allows(2));
    assert!(!order.done(0), "again");
    assert!(!order.done(2));
    assert!(order.allows(3));
    assert!(!order.allows(4));
}
