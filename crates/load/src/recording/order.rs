//! The order of commits by the binary log. A commit of the log is found there by its connection, its second, and its
//! place among those of both.

use super::Recorded;
use crate::log::Commit;

const NOT_FOUND: &str = "the binary log has no commits of this log, or not plainly: it has to be of the same server and \
    time, and with connections, which MariaDB before 11.5 leaves out if binlog_format = ROW";

/// What is known of the log's commits, in the log's order.
#[derive(Debug)]
pub(crate) struct Known {
    numbers: Vec<usize>,
    /// The least number of this commit and those behind it.
    least: Vec<usize>,
    /// So many were found in the binary log, of all.
    pub(super) found: (u64, u64),
}

/// For each place the least of what stands there and behind, and one more for the end.
fn least_behind(all: impl DoubleEndedIterator<Item = usize>, end: usize) -> Vec<usize> {
    let mut least = vec![end];
    for one in all.rev() {
        least.push(one.min(least[least.len() - 1]));
    }
    least.reverse();
    least
}

/// A commit and its place.
type Mark = (Commit, usize);

fn sorted(all: &[Commit]) -> Vec<Mark> {
    let mut sorted: Vec<_> = all.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    sorted
}

/// The places in both logs of what belongs together: of a connection's second in which both have as many commits, with
/// the second before, in which a statement may have begun that was logged then. Only each n-th one is looked at.
fn pairs(log: &[Mark], theirs: &[Mark], shift_s: i64, n: usize) -> Vec<[usize; 2]> {
    let groups = log.chunk_by(|one, other| one.0 == other.0).step_by(n);
    let equal = groups.filter_map(move |own| {
        let (session, second) = own[0].0;
        let [own, theirs] = [(log, second), (theirs, second + shift_s)].map(|(all, second)| {
            let at = |second| all.partition_point(|one| one.0 < (session, second));
            &all[at(second - 1)..at(second + 1)]
        });
        (own.len() == theirs.len()).then(|| own.iter().zip(theirs))
    });
    let pairs = equal.flatten().map(|(own, theirs)| [own.1, theirs.1]);
    pairs.collect()
}

impl Known {
    /// The order of the log's commits as far as the binary log has it. One that is not there comes before those behind it.
    pub(crate) fn new(commits: &[Commit], binary: &[Commit]) -> Result<Self, &'static str> {
        let [log, binary] = [commits, binary].map(sorted);
        // The binary log has no zone. The log's may be 14 hours away, by quarters of an hour.
        let zones_s = (-56..=56).map(|quarters| quarters * 900);
        let n = 1 + log.len() / 10_000;
        let fits = zones_s.map(|shift_s| (pairs(&log, &binary, shift_s, n).len(), shift_s));
        let mut fits: Vec<_> = fits.collect();
        fits.sort_unstable_by(|one, other| other.cmp(one));
        let [(most, shift_s), (next, _)] = [fits[0], fits[1]];
        if most == 0 || 4 * next > 3 * most {
            return Err(NOT_FOUND);
        }
        let mut places = vec![None; log.len()];
        let found = pairs(&log, &binary, shift_s, 1).into_iter();
        found.for_each(|[own, place]| places[own] = Some(place));
        let known = places.iter().map(|place| place.unwrap_or(usize::MAX));
        let first = least_behind(known, usize::MAX);
        let mut order: Vec<_> = (0..log.len()).collect();
        order.sort_by_key(|&commit| places[commit].unwrap_or(first[commit]));
        let mut numbers = vec![0; log.len()];
        let numbered = order.into_iter().zip(0..);
        numbered.for_each(|(commit, number)| numbers[commit] = number);
        Ok(Self {
            least: least_behind(numbers.iter().copied(), log.len()),
            numbers,
            found: (places.iter().flatten().count() as u64, log.len() as u64),
        })
    }

    /// Gives a statement the binary log's order. What it waits for are all that had ended before its begin by both logs:
    /// none that the log has later comes before these, also none of its own session.
    pub(super) fn give(&self, recorded: &mut Recorded) {
        let of = |all: &[usize], at: u64| Some(*all.get(usize::try_from(at).ok()?)? as u64);
        recorded.after_commits = recorded.after_commits.and_then(|at| of(&self.least, at));
        recorded.commit = recorded.commit.and_then(|at| of(&self.numbers, at));
    }
}
