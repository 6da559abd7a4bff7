//! sysbench's command line: `[--option=value …] TEST [--option=value …] [COMMAND]`.

use std::collections::BTreeMap;

/// sysbench's own options with their defaults; `None`: nothing unless it is given.
const GENERAL: &[(&str, Option<&str>)] = &[
    ("threads", Some("1")),
    ("events", Some("0")),
    ("time", Some("10")),
    ("warmup-time", Some("0")),
    ("rate", Some("0")),
    ("report-interval", Some("0")),
    ("percentile", Some("95")),
    ("histogram", None),
    ("verbosity", Some("3")),
    ("debug", Some("off")),
    ("validate", Some("off")),
    ("forced-shutdown", Some("off")),
    ("thread-stack-size", None),
    ("thread-init-timeout", None),
    ("report-checkpoints", None),
    ("luajit-cmd", None),
    ("config-file", None),
    // Ours: scripts that sysbench would trust.
    ("trust-script", Some("off")),
    ("any-database", Some("off")),
    ("script-limit", Some("60")),
    ("rand-type", Some("special")),
    ("rand-seed", Some("0")),
    ("rand-spec-iter", None),
    ("rand-spec-pct", None),
    ("rand-spec-res", None),
    ("rand-pareto-h", None),
    ("rand-zipfian-exp", None),
    ("db-driver", Some("mysql")),
    ("db-ps-mode", Some("auto")),
    ("db-debug", Some("off")),
    ("mysql-host", Some("localhost")),
    ("mysql-port", Some("3306")),
    ("mysql-socket", None),
    ("mysql-user", Some("sbtest")),
    ("mysql-password", None),
    ("mysql-db", Some("sbtest")),
    ("mysql-ssl", Some("off")),
    ("mysql-ssl-ca", None),
    ("mysql-ssl-cert", None),
    ("mysql-ssl-key", None),
    ("mysql-ssl-cipher", None),
    ("mysql-compression", Some("off")),
    ("mysql-debug", Some("off")),
    ("mysql-ignore-errors", Some("1213,1020,1205")),
    ("mysql-dry-run", Some("off")),
    ("pgsql-host", Some("localhost")),
    ("pgsql-port", Some("5432")),
    ("pgsql-user", Some("sbtest")),
    ("pgsql-password", None),
    ("pgsql-db", Some("sbtest")),
    ("pgsql-sslmode", None),
    ("pgsql-ignore-errors", Some("40P01,23505,40001")),
];

/// Names of sysbench 0.5 and before.
const FORMER: [(&str, &str); 4] = [
    ("num-threads", "threads"),
    ("max-requests", "events"),
    ("max-time", "time"),
    ("tx-rate", "rate"),
];

const USUAL: &str = "distributions have sysbench's usual parameters here";

/// Options that change what a run does, and that have no counterpart here.
const REFUSED: [(&str, &str); 13] = [
    ("rand-spec-iter", USUAL),
    ("rand-spec-pct", USUAL),
    ("rand-spec-res", USUAL),
    ("rand-pareto-h", USUAL),
    ("rand-zipfian-exp", USUAL),
    ("histogram", "`diskproof-load run lua --json` has it whole"),
    ("report-checkpoints", "give --report-interval instead"),
    ("luajit-cmd", "leave it out"),
    ("config-file", "write its options on the command line"),
    ("mysql-compression", "connections are not compressed here"),
    ("mysql-ssl-cert", "clients have no certificates here"),
    ("mysql-ssl-key", "clients have no certificates here"),
    ("mysql-ssl-cipher", "leave the choice to client and server"),
];

/// What the words say.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CommandLine {
    pub(super) test: String,
    pub(super) command: String,
    general: BTreeMap<&'static str, String>,
    /// What is not sysbench's own is the script's.
    pub(super) given: Vec<String>,
}

impl CommandLine {
    pub(super) fn read(words: &[String]) -> Result<Self, String> {
        let mut general: BTreeMap<_, _> = GENERAL
            .iter()
            .filter_map(|(name, value)| Some((*name, (*value)?.to_owned())))
            .collect();
        let mut given = Vec::new();
        let mut places = Vec::new();
        for word in words {
            let Some(option) = word.strip_prefix("--") else {
                places.push(word.clone());
                continue;
            };
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            let dashed = name.replace('_', "-");
            let former = FORMER.iter().find(|(former, _)| *former == dashed);
            let dashed = former.map_or(dashed.as_str(), |(_, name)| name);
            if dashed == "test" {
                let test = value.ok_or("--test needs a value: --test=SCRIPT")?;
                places.insert(0, test);
                continue;
            }
            match GENERAL.iter().find(|(own, _)| *own == dashed) {
                Some((own, _)) => {
                    refuse(own, value.as_deref())?;
                    general.insert(own, value.unwrap_or_else(|| "on".to_owned()));
                }
                None => given.push(option.to_owned()),
            }
        }
        let mut places = places.into_iter();
        let test = places.next().ok_or(
            "a script is missing; write it as sysbench takes it: SCRIPT [--name=value …] COMMAND",
        )?;
        let command = places.next().ok_or(
            "a command is missing behind the script: prepare, run, cleanup, or one of its own, such as help",
        )?;
        if let Some(more) = places.next() {
            return Err(format!(
                "{more:?} is one word too many: there is one script and one command"
            ));
        }
        Ok(Self {
            test,
            command,
            general,
            given,
        })
    }

    /// The value of an option of sysbench's own.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.general.get(name).map(String::as_str)
    }

    pub(super) fn number<T: std::str::FromStr>(&self, name: &str) -> Result<T, String> {
        let text = self.text(name).unwrap_or_default();
        text.parse()
            .map_err(|_| format!("--{name}={text}: a number is wanted"))
    }

    /// The value of an option, read as the option of ours with the same meaning.
    pub(super) fn read_by<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, String> {
        let text = self.text(name).unwrap_or_default();
        read(text).map_err(|wrong| format!("--{name}: {wrong}"))
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        is_on(self.text(name).unwrap_or_default())
    }
}

fn is_on(value: &str) -> bool {
    matches!(
        value.to_ascii_lowercase().as_str(),
        "on" | "true" | "1" | "yes"
    )
}

fn refuse(name: &str, value: Option<&str>) -> Result<(), String> {
    let refused = REFUSED.iter().find(|(own, _)| *own == name);
    match refused {
        Some((_, instead)) if value != Some("off") => {
            Err(format!("--{name} is not possible here; {instead}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;

    fn read(words: &str) -> Result<CommandLine, String> {
        let words: Vec<_> = words.split(' ').map(str::to_owned).collect();
        CommandLine::read(&words)
    }

    #[test]
    fn options_stand_before_and_after_the_script() {
        let line = read("--threads=4 oltp.lua --tables=2 --skip_trx --mysql_db=x run").unwrap();
        assert_eq!(line.test, "oltp.lua");
        assert_eq!(line.command, "run");
        assert_eq!(line.number::<u32>("threads"), Ok(4));
        assert_eq!(line.text("mysql-db"), Some("x"));
        assert_eq!(line.text("mysql-user"), Some("sbtest"));
        assert_eq!(line.given, ["tables=2", "skip_trx"]);
    }

    #[test]
    fn former_names_are_known() {
        let line = read("--test=a.lua --num-threads=3 --max-requests=7 --max-time=1 run").unwrap();
        assert_eq!(line.test, "a.lua");
        assert_eq!(line.number::<u32>("threads"), Ok(3));
        assert_eq!(line.number::<u64>("events"), Ok(7));
        assert_eq!(line.command, "run");
    }

    #[test]
    fn an_address_of_ipv6_needs_no_brackets() {
        for host in ["::1", "[::1]"] {
            let line = read(&format!("--pgsql-host={host} --db-driver=pgsql a.lua run")).unwrap();
            let target = format!("{:?}", line.target().unwrap());
            assert!(target.contains("\"::1\""), "{target}");
        }
    }

    #[test]
    fn names_are_taken_as_they_are_written() {
        let name = "a%41:@/?#%zzé";
        for prefix in ["mysql", "pgsql"] {
            let words = format!(
                "--db-driver={prefix} --{prefix}-user={name} --{prefix}-db={name} a.lua run"
            );
            let target = read(&words).unwrap().target().unwrap();
            let (Target::Mysql(server) | Target::Postgres(server)) = target else {
                panic!("{target:?} is a server's")
            };
            assert_eq!((&*server.user, &*server.database), (name, name));
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        for (words, says) in [
            ("--threads=4", "a script is missing"),
            ("a.lua --threads=4", "a command is missing"),
            ("a.lua run again", "one word too many"),
            ("a.lua --luajit-cmd=off2 run", "--luajit-cmd"),
            ("a.lua --mysql-compression run", "--mysql-compression"),
        ] {
            let refusal = read(words).unwrap_err();
            assert!(refusal.contains(says), "{words}: {refusal}");
        }
        assert!(read("a.lua --mysql-compression=off run").is_ok());
        let line = read("a.lua --threads=many run").unwrap();
        assert!(line.number::<u32>("threads").is_err());
    }
}
