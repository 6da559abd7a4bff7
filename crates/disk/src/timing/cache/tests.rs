use super::*;
use crate::device::Kind as _;
use crate::device::{Figure, Model};
use crate::request::NANOS_PER_US;
use crate::timing::Memory;
use crate::timing::testing::{Delay, histories, keeps_the_contract, latency, live_through, rest};

const LINE: u64 = 16 * 1024;
const BACK_BYTES: u64 = 1 << 30;
const FRONT_US: Nanos = 100;
const BACK_US: Nanos = 10_000;
const SECOND: Nanos = 1_000_000_000;

fn parameters() -> CacheParameters {
    let unused = || Box::new(Model::Named("not used: the disks are given".to_owned()));
    CacheParameters {
        line_bytes: Figure::assumed(LINE),
        writes_only: Figure::assumed(false),
        sequential_bypass_bytes: Figure::assumed(0),
        destage_above_share: Figure::assumed(0.5),
        bypass_above_share: Figure::assumed(0.75),
        destage_after_idle_ms: Figure::assumed(100.0),
        front: unused(),
        back: unused(),
    }
}

/// A front of so many lines beside its journal, over a slow back; both with volatile caches.
fn cache_of(parameters: &CacheParameters, lines: u64) -> Cache {
    let front_bytes = lines * LINE + Journal::bytes(lines * LINE) + 4096;
    let front = Delay::new(front_bytes, FRONT_US * NANOS_PER_US, 4).with_a_volatile_cache();
    let back = Delay::new(BACK_BYTES, BACK_US * NANOS_PER_US, 1).with_a_volatile_cache();
    Cache::new(parameters, front.boxed(), back.boxed())
}

fn cache(lines: u64) -> Cache {
    cache_of(&parameters(), lines)
}

fn us(nanos: Nanos) -> u64 {
    nanos / NANOS_PER_US
}

#[test]
fn a_second_read_is_the_fronts() {
    let mut cache = cache(64);
    assert_eq!(
        us(latency(&mut cache, 0, Request::read(LINE, 4096))),
        BACK_US
    );
    assert_eq!(
        us(latency(&mut cache, SECOND, Request::read(LINE, 4096))),
        FRONT_US
    );
    let beside = Request::read(LINE + 4096, 4096);
    assert_eq!(
        us(latency(&mut cache, 2 * SECOND, beside)),
        BACK_US,
        "another block"
    );
    assert_eq!(cache.counters()["read_hit_blocks"], 1);
    assert_eq!(cache.counters()["read_miss_blocks"], 2);
}

#[test]
fn the_cache_is_as_large_as_its_front() {
    let lines = 32;
    let mut cache = cache(lines);
    let read = |cache: &mut Cache, at: u64, line: u64| {
        us(latency(
            cache,
            at * SECOND,
            Request::read(line * LINE, LINE),
        ))
    };
    for line in 0..lines {
        read(&mut cache, line, line);
    }
    let hits = (0..lines).filter(|line| read(&mut cache, 100 + line, *line) == FRONT_US);
    assert_eq!(hits.count() as u64, lines);
    read(&mut cache, 200, lines);
    assert_eq!(
        read(&mut cache, 201, 0),
        BACK_US,
        "the one that was used longest ago went"
    );
    assert_eq!(read(&mut cache, 202, lines - 1), FRONT_US);
    assert_eq!(cache.counters()["evictions"], 2);
}

#[test]
fn a_write_is_answered_by_the_front() {
    let write = Request::write(LINE, LINE);
    let mut back = cache(64);
    assert_eq!(us(latency(&mut back, 0, write)), FRONT_US);
    assert_eq!(
        us(latency(&mut back, SECOND, Request::read(LINE, LINE))),
        FRONT_US
    );
}

#[test]
fn a_flush_writes_its_notes_and_leaves_the_back_alone() {
    let mut cache = cache(64);
    latency(&mut cache, 0, Request::write(LINE, LINE));
    let flush = latency(&mut cache, 1_000_000, Request::flush());
    assert_eq!(us(flush), 2 * FRONT_US, "the journal, then the front");
    let counters = cache.counters();
    assert_eq!(counters["journal_writes"], 1);
    assert!(
        !counters.keys().any(|name| name.starts_with("back.")),
        "{counters:?}"
    );
    let flush = latency(&mut cache, 2_000_000, Request::flush());
    assert_eq!(us(flush), FRONT_US, "nothing new to note");
}

#[test]
fn a_write_is_stable_with_its_note() {
    let mut cache = cache(64);
    cache.submit(0, Tag(1), Request::write(0, LINE));
    let events = rest(&mut cache);
    let stable: Vec<Nanos> = events
        .iter()
        .filter(|event| matches!(event, Event::Stable { .. }))
        .map(Event::at)
        .collect();
    // Nobody flushes: the note waits 100 ms for company and is then written; it and the line leave the
    // front's cache after that.
    assert_eq!(stable.len(), 1);
    assert!(us(stable[0]) > 100_000 + FRONT_US, "{stable:?}");
}

#[test]
fn an_idle_cache_becomes_clean_and_rests() {
    let mut cache = cache(64);
    for line in 0..10 {
        cache.submit(0, Tag(line), Request::write(2 * line * LINE, LINE));
    }
    assert_eq!(cache.counters()["dirty_lines"], 10);
    rest(&mut cache);
    let counters = cache.counters();
    assert_eq!(counters["dirty_lines"], 0);
    assert_eq!(counters["destaged_blocks"], 40);
    assert_eq!(counters["back.write_bytes"], 10 * LINE);
    assert_eq!(counters["back.flush_requests"], 1);
    assert_eq!(
        us(latency(&mut cache, 100 * SECOND, Request::read(0, LINE))),
        FRONT_US
    );
}

#[test]
fn neighbours_are_destaged_together() {
    let mut cache = cache(256);
    for line in (0..64).rev() {
        cache.submit(0, Tag(line), Request::write(line * LINE, LINE));
    }
    rest(&mut cache);
    assert_eq!(
        cache.counters()["back.write_requests"],
        1,
        "64 lines are one MiB"
    );
}

#[test]
fn a_cache_full_of_dirt_lets_writes_past() {
    let mut never_idle = parameters();
    never_idle.destage_after_idle_ms.value = 1e9;
    never_idle.destage_above_share.value = 0.75;
    let mut cache = cache_of(&never_idle, 64);
    let write = |line: u64| Request::write(line * LINE, LINE);
    for line in 0..48 {
        assert_eq!(
            us(latency(&mut cache, line * SECOND, write(line))),
            FRONT_US
        );
    }
    assert_eq!(us(latency(&mut cache, 100 * SECOND, write(60))), BACK_US);
    assert_eq!(
        us(latency(&mut cache, 101 * SECOND, write(3))),
        FRONT_US,
        "it is dirty anyway"
    );
    let flush = us(latency(&mut cache, 102 * SECOND, Request::flush()));
    assert_eq!(flush, BACK_US, "something went past the cache");
    assert_eq!(
        us(latency(&mut cache, 103 * SECOND, Request::flush())),
        FRONT_US
    );
}

#[test]
fn a_cache_of_writes_leaves_reads_to_the_back() {
    let mut writes = parameters();
    writes.writes_only.value = true;
    let mut cache = cache_of(&writes, 64);
    let read = Request::read(0, LINE);
    for at in 0..2 {
        assert_eq!(us(latency(&mut cache, at * SECOND, read)), BACK_US);
    }
    assert_eq!(cache.counters()["copied_blocks"], 0);
    let write = Request::write(0, LINE);
    assert_eq!(us(latency(&mut cache, 2 * SECOND, write)), FRONT_US);
    let soon = 2 * SECOND + 50_000_000;
    assert_eq!(us(latency(&mut cache, soon, read)), FRONT_US);
    rest(&mut cache);
    assert_eq!(cache.counters()["destaged_blocks"], 4);
    assert_eq!(us(latency(&mut cache, 100 * SECOND, read)), BACK_US);
}

#[test]
fn a_line_that_is_written_while_it_is_destaged_stays_dirty() {
    let mut cache = cache(64);
    latency(&mut cache, 0, Request::write(0, LINE));
    let mut events = Vec::new();
    while cache.counters().get("back.write_requests") != Some(&1) {
        let next = cache.next_event().expect("it destages");
        cache.advance(next, &mut events);
    }
    let now = cache.next_event().expect("the back is writing") - 1;
    cache.advance(now, &mut events);
    cache.submit(now, Tag(7), Request::write(0, 4096));
    rest(&mut cache);
    let counters = cache.counters();
    assert_eq!(counters["back.write_requests"], 2, "destaged again");
    assert_eq!(counters["dirty_lines"], 0);
}

#[test]
fn a_discarded_line_is_not_written_back() {
    let mut cache = cache(64);
    latency(&mut cache, 0, Request::write(0, LINE));
    latency(&mut cache, 1_000_000, Request::discard(0, LINE));
    rest(&mut cache);
    assert!(!cache.counters().contains_key("back.write_requests"));
}

#[test]
fn a_scan_goes_past_and_leaves_the_cache_as_it_was() {
    let mut wary = parameters();
    wary.sequential_bypass_bytes.value = 4 * LINE;
    let mut cache = cache_of(&wary, 8);
    for line in 0..100 {
        latency(&mut cache, line * SECOND, Request::read(line * LINE, LINE));
    }
    assert_eq!(
        cache.counters()["copied_blocks"],
        3 * 4,
        "before it was known as a stream"
    );
}

#[test]
fn a_front_without_room_for_a_line_is_no_cache() {
    let mut cache = Cache::new(
        &parameters(),
        Box::new(Memory::without_delay(4096)),
        Delay::new(BACK_BYTES, BACK_US * NANOS_PER_US, 1).boxed(),
    );
    assert_eq!(us(latency(&mut cache, 0, Request::write(0, LINE))), BACK_US);
    assert_eq!(
        us(latency(&mut cache, SECOND, Request::read(0, LINE))),
        BACK_US
    );
}

#[test]
fn it_keeps_the_contract_and_forgets_what_is_done() {
    for (history, lines) in histories(4 << 20, 0..24).zip([4, 40, 4000].into_iter().cycle()) {
        let mut varied = parameters();
        varied.sequential_bypass_bytes.value = history.seed % 3 * (1 << 18);
        varied.writes_only.value = history.seed % 2 == 1;
        keeps_the_contract(|| Box::new(cache_of(&varied, lines)), history);
        let mut one = cache_of(&varied, lines);
        live_through(&mut one, history);
        assert!(one.wholes.are_done());
        assert_eq!(one.lines.dirty_lines(), 0);
        assert!(one.flushes.is_empty());
        let null = || Box::new(Memory::without_delay(BACK_BYTES));
        keeps_the_contract(|| Box::new(Cache::new(&varied, null(), null())), history);
    }
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let refused = |change: fn(&mut CacheParameters)| {
        let mut wrong = parameters();
        change(&mut wrong);
        wrong.check().expect_err("it cannot be")
    };
    for line_bytes in [0, 2048, 5000, 1 << 20] {
        let mut wrong = parameters();
        wrong.line_bytes.value = line_bytes;
        let words = wrong.check().expect_err("it cannot be");
        assert!(words.starts_with(&format!("cache.line_bytes is {line_bytes};")));
    }
    assert!(refused(|wrong| wrong.bypass_above_share.value = 1.1).contains("1.1"));
    assert!(refused(|wrong| wrong.destage_above_share.value = 0.9).contains("0.9"));
    assert!(refused(|wrong| wrong.destage_above_share.value = f64::NAN).contains("NaN"));
    assert!(refused(|wrong| wrong.destage_after_idle_ms.value = -1.0).contains("-1"));
    assert!(refused(|_| ()).contains("cache.front: the device"));
}
