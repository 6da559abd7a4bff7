//! The two generations of sysbench's tables.

/// Which tables, and how they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Schema {
    /// sbtest1 to sbtestN of sysbench 0.5 and 1.0: random rows, the index built after them
    #[value(name = "sbtestN")]
    Numbered,
    /// The one table sbtest of sysbench 0.4: rows alike, the index built before them
    #[value(name = "sbtest")]
    Single,
}

impl Schema {
    /// The name of a table; the only one if tables have no numbers.
    pub fn table_name(self, number: usize) -> String {
        match self {
            Self::Numbered => format!("sbtest{number}"),
            Self::Single => "sbtest".to_owned(),
        }
    }
}
