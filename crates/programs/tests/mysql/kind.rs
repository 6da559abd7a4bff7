//! The servers that the tests know: the distribution's MariaDB, and what `tests/servers/fetch.sh`
//! brings.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Mariadb,
    Mysql56,
    Mysql9,
}

impl Kind {
    /// The server's program; `None`, with the reason printed, where there is none.
    pub(crate) fn program(self) -> Option<PathBuf> {
        let basedir = match self {
            Self::Mariadb => return installed("mariadbd"),
            Self::Mysql56 => "DISKPROOF_TEST_MYSQL56_BASEDIR",
            Self::Mysql9 => "DISKPROOF_TEST_MYSQL9_BASEDIR",
        };
        let Some(path) = std::env::var_os(basedir) else {
            eprintln!("skipped: {basedir} is not set; tests/servers/fetch.sh brings that server");
            return None;
        };
        Some(Path::new(&path).join("bin/mysqld"))
    }

    /// Makes the system tables, with a root who needs no password.
    pub(crate) fn initialise(self, program: &Path, data: &Path) {
        match self {
            Self::Mariadb => install_db(data),
            Self::Mysql56 => bootstrap(program, data),
            Self::Mysql9 => {
                let made = base_command(program, data)
                    .arg("--initialize-insecure")
                    .stderr(Stdio::null())
                    .status()
                    .expect("mysqld starts");
                assert!(made.success(), "mysqld --initialize-insecure failed");
            }
        }
    }

    /// What a server of this kind is started with, beside its place.
    pub(crate) fn options(self, program: &Path) -> Vec<String> {
        let mut options = vec![
            "--bind-address=127.0.0.1".to_owned(),
            "--innodb-flush-log-at-trx-commit=0".to_owned(),
            "--innodb-buffer-pool-size=32M".to_owned(),
            "--innodb-lock-wait-timeout=2".to_owned(),
        ];
        match self {
            Self::Mariadb => options.push("--innodb-log-file-size=32M".to_owned()),
            Self::Mysql56 => options.push(messages(program)),
            Self::Mysql9 => options.extend(
                ["--mysqlx=OFF", "--skip-log-bin", "--secure-file-priv=NULL"].map(str::to_owned),
            ),
        }
        options
    }
}

/// The program with its place and its user, before any other option.
pub(crate) fn base_command(program: &Path, data: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("--no-defaults");
    as_this_user(&mut command);
    place(&mut command, data);
    command
}

/// Each server has its own directory for temporary files too: at its start it removes those of
/// all others.
fn place<'a>(command: &'a mut Command, data: &Path) -> &'a mut Command {
    let temporary = data.with_file_name("tmp");
    fs::create_dir_all(&temporary).expect("a directory for temporary files");
    command
        .arg(format!("--datadir={}", data.display()))
        .arg(format!("--tmpdir={}", temporary.display()))
}

fn install_db(data: &Path) {
    let mut command = Command::new("mariadb-install-db");
    let initialised = place(as_this_user(command.arg("--no-defaults")), data)
        .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
        .stdout(Stdio::null())
        .status()
        .expect("mariadb-install-db starts");
    assert!(initialised.success(), "mariadb-install-db failed");
}

/// The way before MySQL 5.7: the server runs the SQL of its own share folder.
fn bootstrap(program: &Path, data: &Path) {
    fs::create_dir_all(data.join("mysql")).expect("a data directory");
    let mut server = base_command(program, data)
        .args(["--bootstrap", &messages(program)])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("mysqld starts");
    let mut input = server.stdin.take().expect("a pipe");
    input.write_all(b"USE mysql;\n").expect("it reads");
    for file in ["mysql_system_tables.sql", "mysql_system_tables_data.sql"] {
        let sql = fs::read_to_string(share(program).join(file)).expect("its own SQL");
        // Accounts of this machine's name are of no use.
        for line in sql
            .lines()
            .filter(|line| !line.contains("@current_hostname"))
        {
            writeln!(input, "{line}").expect("it reads");
        }
    }
    drop(input);
    assert!(
        server.wait().expect("it ends").success(),
        "--bootstrap failed"
    );
}

fn share(program: &Path) -> PathBuf {
    let basedir = program.ancestors().nth(2).expect("a basedir");
    basedir.join("share")
}

/// An unpacked server looks for its messages where it was to be installed.
fn messages(program: &Path) -> String {
    format!("--lc-messages-dir={}", share(program).display())
}

/// These servers refuse to run as root unless told to; nobody else is.
fn as_this_user(command: &mut Command) -> &mut Command {
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        command.arg("--user=root");
    }
    command
}

fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let found = directories
        .map(|directory| directory.join(program))
        .find(|file| file.exists());
    if found.is_none() {
        eprintln!("skipped: no {program} is installed (apt install mariadb-server)");
    }
    found
}
