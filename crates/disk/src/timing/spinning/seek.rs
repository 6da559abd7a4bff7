//! Time of the arm from one radius to another.

use super::geometry::single;
use super::parameters::SpinningParameters;
use crate::request::NANOS_PER_US;

/// t(x) = t1 + b sqrt(x) + c x for a fraction x of the stroke: the arm first accelerates, then coasts.
/// x counts from the next track, so that a seek to it takes t1, to the whole stroke.
///
/// b and c are those with which t(1) is the full stroke and the mean over random pairs of radii is
/// the average seek; for such pairs E sqrt(x) = 8/15 and E x = 1/3.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_field_names,
    reason = "a time's unit belongs to its name"
)]
pub(super) struct Seek {
    track_to_track_ns: f32,
    root_ns: f32,
    linear_ns: f32,
}

impl Seek {
    pub(super) fn new(parameters: &SpinningParameters) -> Result<Self, String> {
        let (one, average, full) = (
            parameters.track_to_track_seek_us.value,
            parameters.average_seek_us.value,
            parameters.full_stroke_seek_us.value,
        );
        let (least, most) = (one + (full - one) / 3.0, one + (full - one) * 11.0 / 15.0);
        if !(one <= average && average <= full) {
            return Err(format!(
                "average_seek_us is {average}; it must lie between track_to_track_seek_us ({one}) \
                 and full_stroke_seek_us ({full})"
            ));
        }
        // Below, the curve would bend the wrong way; above, it would fall towards the full stroke.
        if average < least || average > most {
            return Err(format!(
                "average_seek_us is {average}; with track_to_track_seek_us {one} and full_stroke_seek_us {full} it may be {least:.1} to {most:.1}"
            ));
        }
        let root = ((average - one) - (full - one) / 3.0) / 0.2;
        let linear = (full - one) - root;
        let nanos = NANOS_PER_US as f64;
        Ok(Self {
            track_to_track_ns: single(one * nanos),
            root_ns: single(root * nanos),
            linear_ns: single(linear * nanos),
        })
    }

    /// Seek of a read over a fraction of the stroke; the caller checks that there is a seek at all.
    #[inline]
    pub(super) fn time_ns(self, stroke_share: f32) -> f32 {
        self.track_to_track_ns + self.root_ns * stroke_share.sqrt() + self.linear_ns * stroke_share
    }
}
