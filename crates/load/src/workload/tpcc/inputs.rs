//! What a terminal's user enters: the random inputs of the five transactions (clause 2).

use rand::RngExt;

use super::account::Run;
use super::random::{DISTRICTS, ITEMS, Random, percent};

/// A number that no item has: an unused one is entered by mistake (clause 2.4.1.5).
const UNUSED_ITEM: u64 = ITEMS + 1;

/// The kinds of transactions, in the order of the specification, in which the summary tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    NewOrder,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [
        Self::NewOrder,
        Self::Payment,
        Self::OrderStatus,
        Self::Delivery,
        Self::StockLevel,
    ];

    /// How often it is in a deck of 23 cards (clause 5.2.4.2). All cards of a shuffled deck are
    /// dealt before it is shuffled again, so the shares are above the least ones of clause 5.2.3.
    fn cards(self) -> usize {
        match self {
            Self::NewOrder | Self::Payment => 10,
            Self::OrderStatus | Self::Delivery | Self::StockLevel => 1,
        }
    }

    /// A new deck, not shuffled.
    pub(super) fn deck() -> Vec<Self> {
        let dealt = Self::ALL.iter();
        dealt
            .flat_map(|&kind| std::iter::repeat_n(kind, kind.cards()))
            .collect()
    }
}

/// A place in the company that a terminal stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) warehouse: u64,
    pub(super) district: u64,
}

impl Place {
    /// The district's key.
    pub(super) fn key(self) -> [u64; 2] {
        [self.warehouse, self.district]
    }
}

/// How a customer is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Customer {
    /// By its number.
    Number(u64),
    /// By its last name, which several customers of a district may have: its number from 0 to 999.
    LastName(u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewOrder {
    pub(super) place: Place,
    pub(super) customer: u64,
    pub(super) lines: Vec<Line>,
    /// The last line has a number that no item has, so the order is rolled back.
    pub(super) rolls_back: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// Its place in the order, from 1.
    pub(super) number: u64,
    pub(super) item: u64,
    pub(super) supply_warehouse: u64,
    pub(super) quantity: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Payment {
    pub(super) place: Place,
    /// Where the customer belongs.
    pub(super) home: Place,
    pub(super) customer: Customer,
    pub(super) cents: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OrderStatus {
    pub(super) place: Place,
    pub(super) customer: Customer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Delivery {
    pub(super) warehouse: u64,
    pub(super) carrier: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StockLevel {
    pub(super) place: Place,
    pub(super) threshold: u64,
}

/// Draws inputs.
impl Run {
    /// Clause 2.4.1.
    pub(super) fn new_order(self, warehouse: u64, random: &mut Random) -> NewOrder {
        let place = in_warehouse(warehouse, random);
        let customer = self.constants.customer(random);
        let count = random.random_range(5..=15);
        let rolls_back = percent(1, random);
        let mut lines: Vec<_> = (1..=count)
            .map(|number| {
                let item = self.constants.item(random);
                let remote = percent(1, random);
                Line {
                    number,
                    item: if rolls_back && number == count {
                        UNUSED_ITEM
                    } else {
                        item
                    },
                    supply_warehouse: if remote {
                        self.other(warehouse, random)
                    } else {
                        warehouse
                    },
                    quantity: random.random_range(1..=10),
                }
            })
            .collect();
        // All clients lock stocks in the same order, so that few meet in a deadlock. The unused
        // item stays the last. No clause says in which order lines are worked on.
        lines.sort_by_key(|line| (line.item == UNUSED_ITEM, line.supply_warehouse, line.item));
        NewOrder {
            place,
            customer,
            lines,
            rolls_back,
        }
    }

    /// Clause 2.5.1.
    pub(super) fn payment(self, warehouse: u64, random: &mut Random) -> Payment {
        let place = in_warehouse(warehouse, random);
        let home = if percent(85, random) || self.warehouses == 1 {
            place
        } else {
            in_warehouse(self.other(warehouse, random), random)
        };
        Payment {
            place,
            home,
            customer: self.customer(random),
            cents: random.random_range(100..=500_000),
        }
    }

    /// Clause 2.6.1.
    pub(super) fn order_status(self, warehouse: u64, random: &mut Random) -> OrderStatus {
        OrderStatus {
            place: in_warehouse(warehouse, random),
            customer: self.customer(random),
        }
    }

    fn customer(self, random: &mut Random) -> Customer {
        if percent(60, random) {
            Customer::LastName(self.constants.last_name(random))
        } else {
            Customer::Number(self.constants.customer(random))
        }
    }

    /// Another warehouse, each as likely as the others; the same if there is no other.
    fn other(self, warehouse: u64, random: &mut Random) -> u64 {
        if self.warehouses == 1 {
            return warehouse;
        }
        let drawn = random.random_range(1..self.warehouses);
        if drawn < warehouse { drawn } else { drawn + 1 }
    }
}

fn in_warehouse(warehouse: u64, random: &mut Random) -> Place {
    Place {
        warehouse,
        district: random.random_range(1..=DISTRICTS),
    }
}

/// Clause 2.7.1.
pub(super) fn delivery(warehouse: u64, random: &mut Random) -> Delivery {
    Delivery {
        warehouse,
        carrier: random.random_range(1..=10),
    }
}

/// Clause 2.8.1: a terminal asks for its own district.
pub(super) fn stock_level(place: Place, random: &mut Random) -> StockLevel {
    StockLevel {
        place,
        threshold: random.random_range(10..=20),
    }
}
