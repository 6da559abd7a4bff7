//! The Payment transaction (clause 2.5).

use std::io::Write;

use super::{Missing, Plan, Sought, Step, push_ints};
use crate::driver::Args;
use crate::driver::rows::Rows;
use crate::workload::tpcc::inputs::Payment;
use crate::workload::tpcc::random::push_amount;
use crate::workload::tpcc::statements;

/// Length of a customer's miscellaneous data.
const LONGEST_DATA: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Begin,
    WarehouseUpdate,
    Warehouse,
    DistrictUpdate,
    District,
    ByLastName,
    Customer,
    Data,
    CustomerUpdate,
    History,
    Commit,
    Done,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) input: Payment,
    at: At,
    sought: Sought,
    warehouse_name: Vec<u8>,
    district_name: Vec<u8>,
    customer_found: Option<u64>,
    bad_credit: bool,
    data: Vec<u8>,
}

impl State {
    pub(super) fn new(input: Payment) -> Self {
        Self {
            input,
            at: At::Begin,
            sought: Sought::new(input.home, input.customer),
            warehouse_name: Vec::new(),
            district_name: Vec::new(),
            customer_found: None,
            bad_credit: false,
            data: Vec::new(),
        }
    }

    pub(super) fn next(&mut self, plan: &Plan, args: &mut Args) -> Step {
        let place = self.input.place;
        let of_district = [place.warehouse, place.district];
        let (statement, then) = match self.at {
            At::Begin => (statements::BEGIN, At::WarehouseUpdate),
            At::WarehouseUpdate => {
                self.push_paid(args);
                push_ints(&[place.warehouse], args);
                (statements::WAREHOUSE_UPDATE, At::Warehouse)
            }
            At::Warehouse => {
                push_ints(&[place.warehouse], args);
                (statements::WAREHOUSE, At::DistrictUpdate)
            }
            At::DistrictUpdate => {
                self.push_paid(args);
                push_ints(&of_district, args);
                (statements::DISTRICT_UPDATE, At::District)
            }
            At::District => {
                push_ints(&of_district, args);
                (statements::DISTRICT, At::ByLastName)
            }
            At::ByLastName if self.sought.push_name(args) => {
                (statements::BY_LAST_NAME, At::Customer)
            }
            At::ByLastName | At::Customer => {
                self.sought.push_key(plan, args)?;
                (statements::CUSTOMER_LOCKED, At::Data)
            }
            At::Data if self.bad_credit => {
                self.sought.push_key(plan, args)?;
                (statements::CUSTOMER_DATA, At::CustomerUpdate)
            }
            At::Data | At::CustomerUpdate => {
                plan.value(self.customer_found, "a customer")?;
                self.push_paid(args);
                self.push_paid(args);
                if self.bad_credit {
                    let data = self.new_data(plan)?;
                    args.push_text(|out| out.extend_from_slice(&data));
                }
                self.sought.push_key(plan, args)?;
                let statement = if self.bad_credit {
                    statements::BAD_CUSTOMER_UPDATE
                } else {
                    statements::CUSTOMER_UPDATE
                };
                (statement, At::History)
            }
            At::History => {
                let home = self.input.home;
                push_ints(
                    &[self.sought.number(plan)?, home.district, home.warehouse],
                    args,
                );
                push_ints(&[place.district, place.warehouse], args);
                self.push_paid(args);
                args.push_text(|out| {
                    out.extend_from_slice(&self.warehouse_name);
                    out.extend_from_slice(b"    ");
                    out.extend_from_slice(&self.district_name);
                });
                (statements::HISTORY_INSERT, At::Commit)
            }
            At::Commit => (statements::COMMIT, At::Done),
            At::Done => return Ok(None),
        };
        self.at = then;
        Ok(Some(statement))
    }

    pub(super) fn received(&mut self, rows: &Rows) {
        let first = || rows.text(0, 0).unwrap_or_default().to_vec();
        match self.at {
            At::DistrictUpdate => self.warehouse_name = first(),
            At::ByLastName => self.district_name = first(),
            At::Customer => self.sought.choose(rows),
            At::Data => {
                self.customer_found = (rows.count() > 0).then_some(1);
                self.bad_credit = rows.text(0, 0) == Some(b"BC");
            }
            At::CustomerUpdate => self.data = first(),
            _ => {}
        }
    }

    fn push_paid(&self, args: &mut Args) {
        args.push_text(|out| push_amount(self.input.cents, out));
    }

    /// The payment before what was there, as far as it fits (clause 2.5.2.2).
    fn new_data(&self, plan: &Plan) -> Result<Vec<u8>, Missing> {
        let Payment { place, home, .. } = self.input;
        let mut data = Vec::with_capacity(LONGEST_DATA);
        // Writing into a vector does not fail.
        let _ = write!(
            data,
            "{} {} {} {} {} ",
            self.sought.number(plan)?,
            home.district,
            home.warehouse,
            place.district,
            place.warehouse
        );
        push_amount(self.input.cents, &mut data);
        data.push(b' ');
        data.extend_from_slice(&self.data);
        data.truncate(LONGEST_DATA);
        Ok(data)
    }
}
