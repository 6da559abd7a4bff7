"""Every threshold of the limits, with its reason. Shares are of 1, times in microseconds."""

# ---------------------------------------------------------------- shares of time

FULL_SHARE = 0.85
"""A resource that is busy for this share is called the limit. A request then waits about six times as long as
it is served (M/M/1: share / (1 - share); Kleinrock, Queueing Systems, 1975)."""

IDLE_SHARE = 0.3
"""A disk that is busy for at most this share is idle: without it a load would be 1.43 times as fast."""

MOST = 0.5
"""From half of the time on, nothing else can take more."""

LITTLE = 0.2
"""Without a part that takes a fifth of the time, throughput rises by a quarter (Amdahl's law)."""

MOSTLY_TIMED = 0.8
"""A job's counters describe the job if it timed this share of the counted time; a fifth decides little."""

KNOWN_TO_SERVE = 0.9
"""Share of the clients' threads that must be known: an unknown thread would be missed at the disks."""

# ---------------------------------------------------------------- how often

SELDOM = 0.01
"""An event in fewer than one of a hundred transactions takes no time of a mean one."""

OFTEN = 0.05
"""One wait in twenty transactions: each may be long, since many pages are written at a time."""

# ---------------------------------------------------------------- times that are compared

AT_ONCE = 0.1
"""A flush that takes at most this share of a write has nothing to write: the disk has no volatile cache."""

AS_LONG = 1.2
"""A write may have waited for a flush if the mean flush takes up to so many times as long as the mean write.
Two clocks time different requests, and some flushes are of pages."""

FAR_LONGER = 5.0
"""A write without a wait takes a few times as long as a read; beyond this it is not more work."""

STARVED = 1.05
"""Clients waited without completing anything if their time exceeds the completed latency by so much."""

ROUND_US = (10_000.0, 1000.0, 100.0, 10.0)
"""Times to compare a disk with: the largest that is at most a third of the present one."""

# ---------------------------------------------------------------- which limit is established

INSTRUMENTS_NEEDED = 2
"""Instruments that must agree: one alone may be wrong, and no other would show it."""

CLEARLY = 1.5
"""If two limits have equal support, one of them must take so many times as much time as the other."""

# ---------------------------------------------------------------- the server's log and pages

NEAR_STALLS = 0.9
"""Share of what the log can hold before clients wait: from here on pages are written at any cost."""

LOG_IS_FULL = 0.95
"""Mean share of what the log can hold. InnoDB writes pages as fast as it can from seven eighths on
(`max_modified_age_async`): if the log is fuller on average, it cannot keep up."""

# ---------------------------------------------------------------- predictions and proofs

CHEAPER_BY = 0.3
"""A transaction may compute so much less on half the CPUs, since threads wake each other without leaving
their CPU and its caches. Point selects of MariaDB in memory took 14% to 27% less."""

DEEP = 4
"""With so many requests under way, a disk gains little more from their order: its demand is then a bound."""

FEWEST_PAIRS = 3
"""Student's t is 12.7 for two pairs and 4.3 for three: with two, no interval is narrower than its subject."""

# ---------------------------------------------------------------- troubles

GROWING = 0.5
"""If half of what is committed stays unpurged, the history grows without end."""

PURGE_BATCHES = 10_000
"""Transactions that purge may leave: it works in batches and takes them off its list later. A judgement: by
default the list is shortened after 128 batches of hundreds of pages (`innodb_purge_rseg_truncate_frequency`,
`innodb_purge_batch_size`)."""

CROWD = 4
"""So many clients should share flushes."""

ALONE = 0.8
"""From so many log flushes a commit on, hardly any commits share one."""

FEW_ROWS = 100
"""With fewer rows a client, writers often want the same one."""
