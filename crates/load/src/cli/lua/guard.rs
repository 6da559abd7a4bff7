//! Ends the program when a script computes and never comes back: nothing else can stop it.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::Stop;
use crate::engine::Failure;
use crate::workload::lua::Watch;

/// How often it is looked.
const PAUSE: Duration = Duration::from_millis(200);

/// Begins to watch.
pub(in crate::cli) fn guard(watch: Arc<Watch>, script: String, limit: Duration, json: bool) {
    thread::spawn(move || {
        let mut since = HashMap::new();
        loop {
            thread::sleep(PAUSE.min(limit));
            let now = Instant::now();
            let computing = watch.computing();
            since.retain(|known, _| computing.contains(known));
            for turn in computing {
                let begun: &mut Instant = since.entry(turn).or_insert(now);
                if now.duration_since(*begun) >= limit {
                    let (client, _) = turn;
                    let seconds = limit.as_secs_f64();
                    let message = format!(
                        "client {client}: {script} has computed for {seconds} s without a statement; if it needs \
                         longer, raise --script-limit, which `run lua` and `prepare lua` have"
                    );
                    Stop::Failed(Failure::new("script", message)).end(json);
                }
            }
        }
    });
}
