//! Ranges of a key in all the shapes that an optimiser should see through: ones that overlap,
//! touch, repeat or exclude each other.

use super::Size;

/// A condition on a key and the rows that it finds.
pub(super) struct Shape {
    pub(super) rows: u64,
    /// `k` is the key, `{L}` the last of them, `{M}` the middle one of the first third.
    condition: &'static str,
}

impl Shape {
    /// The condition on this key of a table of this size.
    pub(super) fn condition(&self, key: &str, size: &Size) -> String {
        let middle = size.part / 2;
        let mut condition = self.condition.replace('k', key);
        for (name, id) in [
            ("{L}", size.rows - 1),
            ("{M-1}", middle - 1),
            ("{M}", middle),
            ("{M+2}", middle + 2),
        ] {
            condition = condition.replace(name, &id.to_string());
        }
        condition
    }
}

const fn shape(rows: u64, condition: &'static str) -> Shape {
    Shape { rows, condition }
}

/// In the original's order.
pub(super) const SHAPES: [Shape; 20] = [
    shape(6, "k=3 OR k=2 OR k=1 OR k=4 OR k=16 OR k=10"),
    shape(2, "k>={L} OR k<1"),
    shape(2, "k>=1 AND k<=2"),
    shape(2, "(k>=1 AND k<=2) OR (k>=1 AND k<=2)"),
    shape(5, "k>=1 AND k<=10 AND k<=5"),
    shape(2, "(k>0 AND k<2) OR k>={L}"),
    shape(5, "(k>0 AND k<2) OR (k>={M} AND k<={M+2}) OR k={M-1}"),
    shape(10, "(k>=5 AND k<=10) OR (k>=1 AND k<=4)"),
    shape(0, "(k=1 OR k=2) AND (k=3 OR k=4)"),
    shape(1, "(k=1 OR k=2) AND (k=2 OR k=3)"),
    shape(3, "(k=1 OR k=5 OR k=20 OR k=40) AND (k=1 OR k>=20 OR k=4)"),
    shape(2, "((k=1 OR k=3) OR (k>1 AND k<3)) AND k<=2"),
    shape(6, "(k>=0 AND k<4) OR (k>=4 AND k<6)"),
    shape(
        9,
        "k<=-1 OR (k>=0 AND k<=5) OR (k>=4 AND k<6) OR (k>=6 AND k<=7) OR (k>7 AND k<=8)",
    ),
    shape(11, "(k>=1 AND k<=2 OR k>=4 AND k<=5) OR (k>=0 AND k<=10)"),
    shape(10, "(k>=1 AND k<=2 OR k>=4 AND k<=5) OR (k>2 AND k<=10)"),
    shape(2, "(k>1 OR k<1) AND k<=2"),
    shape(3, "k<=2 AND (k>1 OR k<=1)"),
    shape(3, "(k>=1 OR k<1) AND k<=2"),
    shape(3, "(k>=1 OR k<=2) AND k<=2"),
];
