//! A request, line by line.

use super::lines::BLOCK_BYTES;
use crate::timing::parts::Run;

/// The part of a request that falls into one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) number: u64,
    pub(super) run: Run,
    /// Blocks of the line that it touches.
    pub(super) blocks: u64,
    /// Those that it covers from end to end.
    pub(super) whole_blocks: u64,
}

/// Bytes of a span that are all on the front, or all not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) run: Run,
    pub(super) held: bool,
}

pub(super) fn spans(run: Run, line_bytes: u64) -> impl Iterator<Item = Span> {
    let mut at = run.offset_bytes;
    std::iter::from_fn(move || {
        if at >= run.end_bytes() {
            return None;
        }
        let number = at / line_bytes;
        let line_at = number * line_bytes;
        let end = run.end_bytes().min(line_at + line_bytes);
        let (from, to) = (at - line_at, end - line_at);
        let whole_from = from.div_ceil(BLOCK_BYTES);
        let whole_to = to / BLOCK_BYTES;
        let span = Span {
            number,
            run: Run::new(at, end - at),
            blocks: mask(from / BLOCK_BYTES, to.div_ceil(BLOCK_BYTES)),
            whole_blocks: mask(whole_from, whole_to.max(whole_from)),
        };
        at = end;
        Some(span)
    })
}

/// The bits from one number up to another.
fn mask(from: u64, to: u64) -> u64 {
    let below = |bit: u64| {
        if bit >= u64::from(u64::BITS) {
            u64::MAX
        } else {
            (1 << bit) - 1
        }
    };
    below(to) & !below(from)
}

impl Span {
    /// The span in pieces, by whether the front holds their blocks.
    pub(super) fn pieces(&self, held: u64) -> impl Iterator<Item = Piece> + use<> {
        let run = self.run;
        // Blocks of the line lie at whole blocks of the device, as lines are whole blocks.
        let first_block = self.run.offset_bytes / BLOCK_BYTES;
        let shift = self.blocks.trailing_zeros();
        let is_held = move |at: u64| held >> shift >> (at / BLOCK_BYTES - first_block) & 1 == 1;
        let mut at = run.offset_bytes;
        std::iter::from_fn(move || {
            if at >= run.end_bytes() {
                return None;
            }
            let (from, held) = (at, is_held(at));
            while at < run.end_bytes() && is_held(at) == held {
                at = ((at / BLOCK_BYTES + 1) * BLOCK_BYTES).min(run.end_bytes());
            }
            Some(Piece {
                run: Run::new(from, at - from),
                held,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: u64 = 16 * 1024;

    #[test]
    fn a_request_is_cut_at_its_lines() {
        let found: Vec<Span> = spans(Run::new(LINE - 512, LINE + 1024), LINE).collect();
        assert_eq!(found.len(), 3);
        assert_eq!(
            (found[0].number, found[0].blocks, found[0].whole_blocks),
            (0, 0b1000, 0)
        );
        assert_eq!((found[1].number, found[1].blocks), (1, 0b1111));
        assert_eq!(found[1].whole_blocks, 0b1111);
        assert_eq!(
            (found[2].number, found[2].blocks, found[2].whole_blocks),
            (2, 0b0001, 0)
        );
        assert_eq!(
            found.iter().map(|span| span.run.length_bytes).sum::<u64>(),
            LINE + 1024
        );
    }

    #[test]
    fn the_largest_line_has_a_bit_for_every_block() {
        let line = 64 * BLOCK_BYTES;
        let span = spans(Run::new(line, line), line).next().expect("one");
        assert_eq!((span.number, span.blocks), (1, u64::MAX));
        assert_eq!(span.whole_blocks, u64::MAX);
    }

    #[test]
    fn pieces_follow_what_is_held() {
        let span = spans(Run::new(LINE + 4096 + 512, 3 * 4096 - 512), LINE)
            .next()
            .expect("one");
        assert_eq!(span.blocks, 0b1110);
        assert_eq!(span.whole_blocks, 0b1100);
        let pieces: Vec<Piece> = span.pieces(0b0100).collect();
        let expected = [
            (LINE + 4096 + 512, 4096 - 512, false),
            (LINE + 8192, 4096, true),
            (LINE + 12_288, 4096, false),
        ];
        let found = pieces
            .iter()
            .map(|piece| (piece.run.offset_bytes, piece.run.length_bytes, piece.held));
        assert!(found.eq(expected), "{pieces:?}");
    }
}
