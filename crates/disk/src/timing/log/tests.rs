use super::*;
use crate::device::Kind as _;
use crate::device::{Figure, Model, Pattern, Probe};
use crate::request::NANOS_PER_US;
use crate::simulate::{self, Length};
use crate::timing::Null;
use crate::timing::testing::{Delay, histories, keeps_the_contract, latency, live_through, rest};

const MIB: u64 = 1 << 20;
const SEGMENT: u64 = 2 * MIB;
const DISK_US: Nanos = 4_000;
const SSD_US: Nanos = 100;
const SECOND: Nanos = 1_000_000_000;

fn parameters() -> LogParameters {
    let unused = || Box::new(Model::Named("not used: the disks are given".to_owned()));
    LogParameters {
        log_bytes: Figure::assumed(8 * MIB),
        segment_bytes: Figure::assumed(SEGMENT),
        destage_above_share: Figure::assumed(0.5),
        destage_after_idle_ms: Figure::assumed(100.0),
        front: unused(),
        back: unused(),
    }
}

fn log_of(parameters: &LogParameters) -> Log {
    let disk = Delay::new(1 << 30, DISK_US * NANOS_PER_US, 1).with_a_volatile_cache();
    let ssd = Delay::new(1 << 28, SSD_US * NANOS_PER_US, 4).with_a_volatile_cache();
    Log::new(parameters, disk.boxed(), ssd.boxed())
}

fn never_idle() -> LogParameters {
    let mut parameters = parameters();
    parameters.destage_after_idle_ms.value = 1e9;
    parameters
}

fn us(nanos: Nanos) -> u64 {
    nanos / NANOS_PER_US
}

#[test]
fn a_write_is_the_disks_and_a_read_is_where_the_block_is() {
    let mut log = log_of(&never_idle());
    assert_eq!(us(latency(&mut log, 0, Request::read(0, 4096))), SSD_US);
    assert_eq!(
        us(latency(&mut log, SECOND, Request::write(0, 4096))),
        DISK_US
    );
    assert_eq!(
        us(latency(&mut log, 2 * SECOND, Request::read(0, 4096))),
        DISK_US
    );
    assert_eq!(
        us(latency(&mut log, 3 * SECOND, Request::read(4096, 4096))),
        SSD_US
    );
    let both = Request::read(0, 8192);
    assert_eq!(
        us(latency(&mut log, 4 * SECOND, both)),
        DISK_US,
        "the later of the two"
    );
    let counters = log.counters();
    assert_eq!(counters["read_log_blocks"], 2);
    assert_eq!(counters["read_back_blocks"], 3);
    assert_eq!(counters["front.write_bytes"], 8192, "a header and a block");
    assert!(!counters.contains_key("back.write_requests"));
}

#[test]
fn destaged_blocks_are_the_ssds_again() {
    let mut log = log_of(&parameters());
    for number in 0..3 {
        latency(&mut log, number * 10_000_000, Request::write(0, 8192));
    }
    rest(&mut log);
    let counters = log.counters();
    assert_eq!(counters["logged_blocks"], 0);
    assert_eq!(
        counters["destaged_blocks"], 2,
        "each block once, however often it was written"
    );
    assert_eq!(counters["back.write_requests"], 1, "neighbours together");
    assert_eq!(counters["back.flush_requests"], 1);
    assert_eq!(
        us(latency(&mut log, 100 * SECOND, Request::read(0, 4096))),
        SSD_US
    );
}

fn answers(events: &[Event]) -> Vec<Nanos> {
    let answers = events
        .iter()
        .filter(|event| matches!(event, Event::Answered { .. }));
    answers.map(|event| us(event.at())).collect()
}

#[test]
fn what_comes_at_once_or_during_an_append_is_appended_together() {
    let mut log = log_of(&never_idle());
    let mut events = Vec::new();
    for number in 0..33 {
        let now = if number < 3 { 0 } else { 1_000_000 };
        if number == 3 {
            log.advance(now, &mut events);
        }
        log.submit(now, Tag(number), Request::write(number * 40_960, 4096));
    }
    log.advance(SECOND, &mut events);
    assert_eq!(log.counters()["appends"], 2);
    let mut expected = vec![DISK_US; 3];
    expected.resize(33, 2 * DISK_US);
    assert_eq!(answers(&events), expected);
}

#[test]
fn random_writes_go_as_fast_as_the_disk_appends() {
    let probe = Probe {
        pattern: Pattern::RandomWrite,
        block_bytes: 4096,
        depth: 64,
        span_bytes: Some(4 * MIB),
    };
    let mut log = log_of(&never_idle());
    let found = simulate::run(&mut log, &probe, Length::seconds(10), 1).iops();
    // 64 blocks in an append, or in two once the end of a segment has parted them, less what destaging
    // takes of the disk. One by one they would be 250 a second.
    let most = 64e6 / DISK_US as f64;
    assert!(
        (0.4 * most..=most * 1.01).contains(&found),
        "{found} {most}"
    );
    assert!(log.counters()["destaged_segments"] > 10);
}

#[test]
fn a_flush_is_the_disks_unless_something_went_past() {
    let mut log = log_of(&never_idle());
    latency(&mut log, 0, Request::write(0, 4096));
    assert_eq!(us(latency(&mut log, SECOND, Request::flush())), DISK_US);
    assert!(!log.counters().contains_key("back.flush_requests"));
    let past_it = Request::write(0, 2 * MIB);
    assert_eq!(
        us(latency(&mut log, 2 * SECOND, past_it)),
        DISK_US,
        "it goes past, and a header says that the log's block is not the newest"
    );
    assert_eq!(log.counters()["appends"], 2);
    assert_eq!(
        us(latency(&mut log, 2 * SECOND + SECOND / 2, past_it)),
        SSD_US,
        "of which the log has nothing"
    );
    assert_eq!(log.counters()["appends"], 2);
    let read = Request::read(0, 4096);
    assert_eq!(
        us(latency(&mut log, 3 * SECOND, read)),
        SSD_US,
        "the log has it no more"
    );
    latency(&mut log, 4 * SECOND, Request::flush());
    latency(&mut log, 5 * SECOND, Request::flush());
    assert_eq!(log.counters()["back.flush_requests"], 1);
}

#[test]
fn a_full_log_makes_writes_wait_for_the_ssd() {
    let slow_ssd = Delay::new(1 << 28, 50_000 * NANOS_PER_US, 1);
    let disk = Delay::new(1 << 30, 10 * NANOS_PER_US, 1);
    let mut log = Log::new(&never_idle(), disk.boxed(), slow_ssd.boxed());
    for number in 0..64 {
        log.submit(0, Tag(number), Request::write(number * MIB / 2, MIB / 2));
    }
    let answers = answers(&rest(&mut log));
    assert_eq!(answers.len(), 64);
    assert!(
        answers[8] < 50_000,
        "the log takes the first ones: {answers:?}"
    );
    assert!(answers[40] > 50_000, "the SSD is waited for: {answers:?}");
    assert!(log.counters()["waits_for_room"] > 0);
}

#[test]
fn a_discarded_block_is_not_destaged() {
    let mut log = log_of(&parameters());
    latency(&mut log, 0, Request::write(0, 8192));
    latency(&mut log, 10_000_000, Request::discard(0, 8192));
    rest(&mut log);
    assert!(!log.counters().contains_key("back.write_requests"));
    assert_eq!(
        log.counters()["front.write_bytes"],
        12_288 + 4096,
        "the header tells it"
    );
}

#[test]
fn even_a_share_of_nothing_leaves_the_open_segment_to_idleness() {
    let mut eager = parameters();
    eager.destage_above_share.value = 0.0;
    let mut log = log_of(&eager);
    latency(&mut log, 0, Request::write(0, 4096));
    assert_eq!(log.counters()["destaged_segments"], 0);
    rest(&mut log);
    assert_eq!(log.counters()["destaged_segments"], 1);
}

#[test]
fn it_keeps_the_contract_and_forgets_what_is_done() {
    for history in histories(4 << 20, 0..36) {
        let mut varied = parameters();
        varied.destage_above_share.value = [0.0, 0.5, 1.0][history.depth % 3];
        varied.log_bytes.value = [4, 8, 256][history.depth % 3] * MIB;
        keeps_the_contract(|| Box::new(log_of(&varied)), history);
        let mut one = log_of(&varied);
        live_through(&mut one, history);
        assert!(one.wholes.are_done());
        assert!(one.appends.is_empty());
        assert_eq!(one.segments.blocks(), 0);
        let null = || Box::new(Null::new(1 << 28));
        keeps_the_contract(|| Box::new(Log::new(&varied, null(), null())), history);
    }
}

#[test]
fn a_read_may_be_told_of_late_by_the_head_start_of_both() {
    let mut log = log_of(&never_idle());
    assert_eq!(us(log.head_start()), SSD_US);
    log.advance(SECOND, &mut Vec::new());
    log.submit(SECOND - log.head_start(), Tag(0), Request::read(0, 4096));
    log.submit(SECOND - log.head_start(), Tag(1), Request::write(0, 4096));
    let answered = |events: &[Event]| {
        let answers = events
            .iter()
            .filter(|event| matches!(event, Event::Answered { .. }));
        answers.map(Event::at).collect::<Vec<_>>()
    };
    let appended = SECOND + DISK_US * NANOS_PER_US;
    assert_eq!(answered(&rest(&mut log)), [SECOND, appended]);
}

#[test]
fn a_disk_too_small_for_a_log_is_none() {
    let small = Delay::new(SEGMENT, DISK_US * NANOS_PER_US, 1);
    let ssd = Delay::new(1 << 28, SSD_US * NANOS_PER_US, 4);
    let mut log = Log::new(&parameters(), small.boxed(), ssd.boxed());
    assert_eq!(us(latency(&mut log, 0, Request::write(0, 4096))), SSD_US);
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let refused = |change: fn(&mut LogParameters)| {
        let mut wrong = parameters();
        change(&mut wrong);
        wrong.check().expect_err("it cannot be")
    };
    assert!(refused(|wrong| wrong.log_bytes.value = 1).contains("log.log_bytes is 1;"));
    assert!(refused(|wrong| wrong.segment_bytes.value = 8 * MIB).contains("half of log_bytes"));
    assert!(refused(|wrong| wrong.segment_bytes.value = SEGMENT + 1).contains("in steps of 4096"));
    assert!(refused(|wrong| wrong.destage_above_share.value = f64::NAN).contains("NaN"));
    assert!(refused(|wrong| wrong.destage_after_idle_ms.value = 1e10).contains("idle_ms is 1"));
    assert!(refused(|_| ()).contains("log.front: the device"));
}
