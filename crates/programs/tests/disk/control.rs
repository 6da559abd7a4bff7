//! The control socket, by well-meaning clients and others.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::served::{self, Served, serve};

struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    fn of(served: &Served) -> Self {
        let stream = UnixStream::connect(served.socket()).expect("it listens");
        stream
            .set_read_timeout(Some(served::PATIENCE))
            .expect("a limit");
        Self {
            stream: BufReader::new(stream),
        }
    }

    fn say(&mut self, line: &[u8]) -> Value {
        self.send(line);
        self.send(b"\n");
        self.hear()
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).expect("sent");
    }

    fn hear(&mut self) -> Value {
        let mut reply = String::new();
        self.stream.read_line(&mut reply).expect("an answer");
        serde_json::from_str(&reply).unwrap_or_else(|_| panic!("no answer: {reply:?}"))
    }
}

fn small() -> Served {
    serve("null", &["--size", "1 MiB"])
}

#[test]
fn a_disk_describes_itself() {
    let served = serve(
        "null",
        &["--size", "1 MiB", "--seed", "5", "--timing", "off"],
    );
    let described = served.control(&["describe"]);
    for (key, value) in [
        ("device", json!("null")),
        ("title", json!("Null")),
        ("size_bytes", json!(1 << 20)),
        ("seed", json!(5)),
        ("timing", json!(false)),
        ("snapshots", json!([])),
        ("mount", json!(served.mount())),
        ("socket", json!(served.socket())),
        ("process", json!(served.process.id())),
        ("file", json!(served.mount().join("disk"))),
    ] {
        assert_eq!(described[key], value, "{key}");
    }
    for key in ["floor_us", "path_us"] {
        let us = described[key].as_f64().expect("a number");
        assert!(us > 0.0, "{key}: {us}");
        assert_eq!(served.ready[key], described[key]);
    }
    served.control(&["snapshot", "b"]);
    served.control(&["snapshot", "a"]);
    assert_eq!(
        served.control(&["describe"])["snapshots"],
        json!(["a", "b"])
    );
}

#[test]
fn nonsense_is_answered_and_harms_nothing() {
    let served = small();
    let mut client = Client::of(&served);
    for (line, part) in [
        ("{", "not understood"),
        ("nonsense", "not understood"),
        ("[]", "not understood"),
        ("{}", "`do`"),
        (r#"{"do":"explode"}"#, "explode"),
        (r#"{"do":7}"#, "not understood"),
        (r#"{"do":"timing"}"#, "`on`"),
        (r#"{"do":"timing","on":"perhaps"}"#, "perhaps"),
        (r#"{"do":"timing","on":true,"off":true}"#, "off"),
        (r#"{"do":"snapshot"}"#, "`name`"),
        (r#"{"do":"snapshot","name":""}"#, "1 to 200 bytes"),
        (r#"{"do":"restore","name":"none"}"#, "no snapshot `none`"),
        (r#"{"do":"forget","name":"none"}"#, "no snapshot `none`"),
    ] {
        let reply = client.say(line.as_bytes());
        assert_eq!(reply["ok"], false, "{line}");
        let error = reply["error"].as_str().expect("words");
        assert!(error.contains(part), "{line}: {error}");
    }
    let long_name = format!(r#"{{"do":"snapshot","name":"{}"}}"#, "n".repeat(201));
    assert_eq!(client.say(long_name.as_bytes())["ok"], false);
    assert_eq!(client.say(b"\xff\xfe")["ok"], false);
    // Empty lines are nothing; several requests in one piece are several.
    let reply = client.say(b"\n \n{\"do\":\"reset\"}\n{\"do\":\"describe\"}");
    assert_eq!(reply, json!({"ok": true}));
    assert_eq!(client.hear()["device"], "null");
    assert_eq!(served.statistics()["ok"], true);
}

#[test]
fn a_line_without_end_is_cut_off() {
    let served = small();
    let mut client = Client::of(&served);
    // Without its end: one byte more than a line may have is answered, and what came after it not read.
    client.send(&vec![b' '; 64 * 1024 + 1]);
    let reply = client.hear();
    assert!(
        reply["error"]
            .as_str()
            .expect("words")
            .contains("65536 bytes"),
        "{reply}"
    );
    let mut rest = Vec::new();
    client.stream.read_to_end(&mut rest).expect("an end");
    assert!(rest.is_empty());
    assert_eq!(served.statistics()["ok"], true);
}

#[test]
fn many_connections_are_refused_in_words() {
    let served = small();
    let mut clients: Vec<Client> = (0..64).map(|_| Client::of(&served)).collect();
    for client in &mut clients {
        assert_eq!(client.say(br#"{"do":"reset"}"#)["ok"], true);
    }
    let mut one_more = Client::of(&served);
    let reply = one_more.hear();
    assert!(
        reply["error"]
            .as_str()
            .expect("words")
            .contains("too many connections")
    );
    drop(clients);
    let begun = std::time::Instant::now();
    // Their threads end in their own time.
    while served.try_control(&["reset"]).is_err() {
        assert!(begun.elapsed() < served::PATIENCE, "it never listens again");
    }
}

#[test]
fn snapshots_are_bounded() {
    let served = small();
    let mut client = Client::of(&served);
    let mut snapshot =
        |number: u32| client.say(format!(r#"{{"do":"snapshot","name":"{number}"}}"#).as_bytes());
    for number in 0..1024 {
        assert_eq!(snapshot(number)["ok"], true);
    }
    let reply = snapshot(1024);
    assert!(
        reply["error"]
            .as_str()
            .expect("words")
            .contains("forget one first"),
        "{reply}"
    );
    assert_eq!(
        snapshot(7)["ok"],
        true,
        "one that is there may be taken anew"
    );
}

/// A refusal changes nothing: neither what was counted nor what the model remembers.
#[test]
fn a_restore_that_is_refused_is_none() {
    let served = serve("null", &["--size", "1 MiB"]);
    served.open().write_all_at(&[1; 4096], 0).expect("written");
    served
        .try_control(&["restore", "absent"])
        .expect_err("no such snapshot");
    assert_eq!(served.statistics()["write"]["requests"], 1);
    served.control(&["snapshot", "there"]);
    served.control(&["restore", "there"]);
    assert_eq!(served.statistics()["write"]["requests"], 0);
}

/// Who asks for the end need not stay to hear that it comes.
#[test]
fn a_detach_holds_though_nobody_listens() {
    let mut served = small();
    let mut client = Client::of(&served);
    let request = client.stream.get_mut();
    // The first answer has nobody to hear it when the second request is read.
    request
        .write_all(b"{\"do\":\"statistics\"}\n{\"do\":\"detach\"}\n")
        .expect("sent");
    drop(client);
    assert_eq!(served.ended(), Some(0));
    served.check_clean();
}

/// The page says what can be asked: each request on it is understood, and none is missing.
#[test]
fn the_page_and_the_program_agree() {
    let page = include_str!("../../../../docs/disk.md");
    let requests: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `{\"do\""))
        .map(|rest| rest.split('`').next().expect("a request"))
        .collect();
    let served = small();
    let mut known: Vec<String> = Vec::new();
    for rest in requests {
        let request = format!("{{\"do\"{rest}");
        let verb: Value = serde_json::from_str(&request).expect(&request);
        known.push(verb["do"].as_str().expect("a verb").to_owned());
        let reply = Client::of(&served).say(request.as_bytes());
        let done = reply["ok"] == true;
        // Its log is not there.
        let understood = verb["do"] == "replay" && reply["error"] != Value::Null;
        assert!(done || understood, "{request}: {reply}");
        let error = reply["error"].as_str().unwrap_or_default();
        assert!(!error.starts_with("not understood"), "{request}: {error}");
    }
    known.sort();
    known.dedup();
    let refused = Client::of(&small()).say(br#"{"do":"?"}"#);
    let error = refused["error"].as_str().expect("words");
    for verb in &known {
        assert!(
            error.contains(&format!("`{verb}`")),
            "{verb} is not in {error}"
        );
    }
    assert_eq!(error.matches('`').count() / 2, known.len() + 1, "{error}");
}

/// The names in the first column of a section's table.
fn fields_on_the_page(heading: &str) -> Vec<&'static str> {
    let page = include_str!("../../../../docs/disk.md");
    let section = page.split(heading).nth(1).expect("a section");
    let section = section.split("\n## ").next().expect("its text");
    let mut fields: Vec<&str> = section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| line.split('|').nth(1))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    fields.sort_unstable();
    fields
}

fn fields_of(answer: &Value) -> Vec<&str> {
    let fields = answer.as_object().expect("an object").keys();
    // Sorted, as keys of an object are.
    fields
        .map(String::as_str)
        .filter(|key| *key != "ok")
        .collect()
}

/// Every field of a cut is described. Elsewhere paths, sizes and what was asked for explain themselves, but what is
/// described is there.
#[test]
fn the_page_describes_the_answers() {
    let served = small();
    let described = served.control(&["describe"]);
    let statistics = served.statistics();
    for (answer, part) in [
        (&described, "## Description"),
        (&statistics, "## Statistics"),
    ] {
        let fields = fields_of(answer);
        for field in fields_on_the_page(part) {
            assert!(fields.contains(&field), "{part}: {field}");
        }
    }
    served.control(&["track", "on"]);
    let cut = served.control(&["cut"]);
    assert_eq!(fields_of(&cut), fields_on_the_page("## Cut"));
}

/// A disk whose latency is drawn gives the same draws to the same seed, and others to another.
#[test]
fn a_restore_begins_the_draws_of_a_seed() {
    let served = serve("ebs-gp2", &["--size", "1 MiB", "--timing", "on"]);
    served.control(&["snapshot", "empty"]);
    let drawn = |seed: &[&str]| {
        served.control(&[&["restore", "empty"], seed].concat());
        let file = served.open();
        for block in 0..8 {
            let mut bytes = [0; 4096];
            std::os::unix::fs::FileExt::read_exact_at(&file, &mut bytes, block * 4096)
                .expect("read");
        }
        served.statistics()["read"]["latency_us"].to_string()
    };
    // Of a model that was never used, too.
    let other = drawn(&["--seed", "18446744073709551615"]);
    let own = drawn(&[]);
    assert_ne!(own, other);
    assert_eq!(own, drawn(&[]));
    assert_eq!(other, drawn(&["--seed", "18446744073709551615"]));
    assert_eq!(own, drawn(&["--seed", "1"]), "the disk's own seed is 1");
}
