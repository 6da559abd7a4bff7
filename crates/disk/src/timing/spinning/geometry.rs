//! The place of an address: its radius, its angle, and how fast the platter passes there.
//!
//! The disk is one long spiral. Sustained rates of data sheets include track and head switches,
//! because the drive skews its tracks so that the next one begins just when the head has settled. A
//! spiral with that rate behaves the same for sequential reads, and its angle at an address is the
//! angle at which a transfer can begin. It leaves out that a head switch within a cylinder costs a
//! random access as much as a seek to the next track.

use super::parameters::SpinningParameters;
use super::seek::Seek;
use crate::request::Nanos;

/// Rounding to whole nanoseconds may bring the head this share of a revolution (below 0.1 us) past a
/// sector that it has not missed.
const TOLERANCE_REVOLUTIONS: f64 = 1e-5;

#[derive(Clone, Debug)]
pub(super) struct Geometry {
    pub(super) capacity_bytes: u64,
    pub(super) revolution_ns: f64,
    /// Turns of the spiral from the first address to the last.
    pub(super) turns: f64,
    pub(super) seek: Seek,
    /// Angle at time 0, in revolutions: no two spindles turn in step.
    phase: f64,
    outer_rate: f64,
    inner_rate: f64,
}

/// The steps that bring the head to the beginning of a transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positioning {
    pub(super) seek_ns: f64,
    /// Slightly negative if the head has just reached the sector and rounding puts it past it.
    pub(super) wait_ns: f64,
}

impl Geometry {
    pub(super) fn new(parameters: &SpinningParameters, phase: f64) -> Self {
        let revolution_ns = parameters.revolution_ns();
        let outer_rate = parameters.outer_mb_per_s.value / 1e3;
        let inner_rate = parameters.inner_mb_per_s.value / 1e3;
        let mean_rate = f64::midpoint(outer_rate, inner_rate);
        Self {
            capacity_bytes: parameters.capacity_bytes.value,
            revolution_ns,
            turns: parameters.capacity_bytes.value as f64 / mean_rate / revolution_ns,
            seek: Seek::new(parameters).expect("the parameters have been checked"),
            phase,
            outer_rate,
            inner_rate,
        }
    }

    /// Tracks beyond the next one, from edge to edge.
    pub(super) fn most_tracks(&self) -> f64 {
        (self.turns - 2.0).max(1.0)
    }

    /// Turns of the spiral before an address. The rate falls linearly with the radius x from outer to
    /// inner, so the share of addresses before x is u = (Ro x - (Ro - Ri) x^2 / 2) / ((Ro + Ri) / 2),
    /// here solved for x without cancellation; time, and so turns, go by x alone.
    pub(super) fn turns_before(&self, byte: u64) -> f64 {
        let share = byte as f64 / self.capacity_bytes as f64;
        let (outer, inner) = (self.outer_rate, self.inner_rate);
        let root = (outer * outer - (outer * outer - inner * inner) * share)
            .max(0.0)
            .sqrt();
        self.turns * share * (outer + inner) / (outer + root)
    }

    /// The address under the head after that many turns of the spiral.
    pub(super) fn byte_after(&self, turns: f64) -> u64 {
        let x = (turns / self.turns).clamp(0.0, 1.0);
        let (outer, inner) = (self.outer_rate, self.inner_rate);
        let share = (outer * x - (outer - inner) * x * x / 2.0) / f64::midpoint(outer, inner);
        whole(share * self.capacity_bytes as f64).min(self.capacity_bytes)
    }

    /// The platter's angle, in revolutions from 0 to 1.
    pub(super) fn angle_at(&self, now: Nanos) -> f64 {
        (now as f64 / self.revolution_ns + self.phase).fract()
    }

    /// From `head` to `target`, both in turns. Within one turn of the spiral the arm stays.
    pub(super) fn positioning(
        &self,
        now: Nanos,
        head: f64,
        target: f64,
        settle_ns: f64,
    ) -> Positioning {
        let tracks = (target - head).abs().floor();
        let seek_ns = if tracks < 1.0 {
            0.0
        } else {
            f64::from(
                self.seek
                    .time_ns(single((tracks - 1.0) / self.most_tracks())),
            ) + settle_ns
        };
        let there = self.angle_at(now) + seek_ns / self.revolution_ns;
        let mut wait = target - there;
        wait -= wait.floor();
        if wait > 1.0 - TOLERANCE_REVOLUTIONS {
            wait -= 1.0;
        }
        Positioning {
            seek_ns,
            wait_ns: wait * self.revolution_ns,
        }
    }
}

/// In single precision: of a seek a few nanoseconds, and a scan of many at once is twice as fast.
#[expect(clippy::cast_possible_truncation, reason = "said above")]
pub(super) fn single(value: f64) -> f32 {
    value as f32
}

/// A duration or an address as a whole number; negative ones, which only rounding makes, are 0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn whole(value: f64) -> u64 {
    (value + 0.5) as u64
}
