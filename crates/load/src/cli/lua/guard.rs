//! Ends the program when a script computes and never comes back: nothing else can stop it.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::{Stop, overseer};
use crate::engine::Failure;
use crate::workload::lua::Watch;

/// How often it is looked.
const PAUSE: Duration = Duration::from_millis(200);
/// Each how many looks the overseer hears that it is looked.
const SIGN_EACH: u64 = 25;

/// Begins to watch.
pub(in crate::cli) fn guard(watch: Arc<Watch>, script: String, limit: Duration, json: bool) {
    thread::spawn(move || {
        let mut since = HashMap::new();
        for look in 0_u64.. {
            thread::sleep(PAUSE.min(limit));
            if look % SIGN_EACH == 0 {
                overseer::give_sign();
            }
            let now = Instant::now();
            let computing = watch.computing();
            since.retain(|known, _| computing.contains(known));
            let seconds = limit.as_secs_f64();
            let remedy = "if it needs longer, raise --script-limit";
            for turn in computing {
                let begun: &mut Instant = since.entry(turn).or_insert(now);
                if now.duration_since(*begun) >= limit {
                    let (client, _) = turn;
                    let message = format!(
                        "client {client}: {script} has computed for {seconds} s without a statement; {remedy}"
                    );
                    Stop::Failed(Failure::new("script", message)).end(json);
                }
            }
            if let Some((client, function)) = watch.late(limit) {
                let message = format!(
                    "client {client}: {function}() of {script} was not over after {seconds} s; {remedy}"
                );
                Stop::Failed(Failure::new("script", message)).end(json);
            }
        }
    });
}
