//! Commands that wait for the arm, and the choice of the next one: shortest positioning time first,
//! aged.
//!
//! T = positioning - w waiting, the least first: the aged form of SPTF of Jacobson and Wilkes
//! (1991) and Seltzer, Chen and Ousterhout (1990). No command starves: one that has waited longer
//! than another by the longest positioning time over w goes before it, so only those that arrived
//! within that time can pass.
//!
//! The columns are plain arrays of floats and the loop has no branches and no calls, so that the
//! compiler makes vector code of it: this scan is most of the model's cost.

use super::geometry::{Geometry, single};
use crate::request::Nanos;

/// Rounds to the nearest whole number, for values below 2^22. Beyond, it is nearly exact, which is
/// enough for a track in millions. Unlike `f32::round` it needs no call.
fn round(value: f32) -> f32 {
    const ROUNDER: f32 = 12_582_912.0;
    (value + ROUNDER) - ROUNDER
}

/// Half the geometry's tolerance. So a wait that this scan takes for none is none there: its single
/// precision is good to a tenth of it.
const TOLERANCE_REVOLUTIONS: f32 = 0.5e-5;

#[derive(Debug)]
pub(super) struct Queue<T> {
    ageing: f64,
    /// The start of each: whole turns of the spiral, and the remainder.
    track: Vec<f32>,
    angle: Vec<f32>,
    settle_ns: Vec<f32>,
    /// Arrival times the ageing weight.
    handicap_ns: Vec<f64>,
    cost_ns: Vec<f64>,
    items: Vec<T>,
}

/// In four lanes, for the compiler to keep in a vector.
fn least(costs: &[f64]) -> f64 {
    let lesser = |a: f64, b: f64| if b < a { b } else { a };
    let mut lanes = [f64::INFINITY; 4];
    let fours = costs.chunks_exact(4);
    let rest = fours.remainder().iter();
    for four in fours {
        for lane in 0..4 {
            lanes[lane] = lesser(lanes[lane], four[lane]);
        }
    }
    rest.chain(&lanes).copied().fold(f64::INFINITY, lesser)
}

/// The head and the platter at the moment of the choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) geometry: &'a Geometry,
    pub(super) now: Nanos,
    /// In turns of the spiral.
    pub(super) head: f64,
}

impl<T> Queue<T> {
    pub(super) fn new(ageing: f64) -> Self {
        Self {
            ageing,
            track: Vec::new(),
            angle: Vec::new(),
            settle_ns: Vec::new(),
            handicap_ns: Vec::new(),
            cost_ns: Vec::new(),
            items: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn items(&self) -> &[T] {
        &self.items
    }

    /// Adds a command that begins after that many turns of the spiral and has waited since
    /// `arrived`.
    pub(super) fn push(&mut self, turns: f64, settle_ns: f64, arrived: Nanos, item: T) {
        let (track, angle) = split(turns);
        self.track.push(track);
        self.angle.push(angle);
        self.settle_ns.push(single(settle_ns));
        self.handicap_ns.push(arrived as f64 * self.ageing);
        self.cost_ns.push(0.0);
        self.items.push(item);
    }

    /// Takes one out; the last takes its place.
    pub(super) fn swap_remove(&mut self, index: usize) -> T {
        self.track.swap_remove(index);
        self.angle.swap_remove(index);
        self.settle_ns.swap_remove(index);
        self.handicap_ns.swap_remove(index);
        self.cost_ns.pop();
        self.items.swap_remove(index)
    }

    /// The one that comes next and its cost, by which it compares with those of other queues.
    pub(super) fn best(&mut self, view: View) -> Option<(usize, f64)> {
        self.weigh(view);
        let waited_ns = view.now as f64 * self.ageing;
        let least = least(&self.cost_ns);
        let index = self.cost_ns.iter().position(|&cost| cost <= least)?;
        Some((index, least - waited_ns))
    }

    fn weigh(&mut self, view: View) {
        let geometry = view.geometry;
        let seek = geometry.seek;
        let per_track = single(1.0 / geometry.most_tracks());
        let revolution_ns = single(geometry.revolution_ns);
        let per_revolution = 1.0 / revolution_ns;
        let (head_track, head_angle) = split(view.head);
        let angle_now = single(geometry.angle_at(view.now));
        let n = self.items.len();
        let (track, angle) = (&self.track[..n], &self.angle[..n]);
        let (settle_ns, handicap_ns) = (&self.settle_ns[..n], &self.handicap_ns[..n]);
        let cost_ns = &mut self.cost_ns[..n];
        for i in 0..n {
            let distance = ((track[i] - head_track) + (angle[i] - head_angle)).abs();
            // Whole tracks beyond the next one; below none of them, the head is there.
            let beyond = round(distance - 1.5);
            let share = beyond.max(0.0) * per_track;
            let moved = seek.time_ns(share) + settle_ns[i];
            let seek_ns = if beyond < 0.0 { 0.0 } else { moved };
            let turn = angle[i] - angle_now - seek_ns * per_revolution;
            // To 0..1; a target missed only by rounding is not missed.
            let nearest = turn - round(turn);
            let wait = if nearest < -TOLERANCE_REVOLUTIONS {
                nearest + 1.0
            } else {
                nearest
            };
            cost_ns[i] = f64::from(seek_ns + wait * revolution_ns) + handicap_ns[i];
        }
    }
}

fn split(turns: f64) -> (f32, f32) {
    let track = turns.floor();
    (single(track), single(turns - track))
}
