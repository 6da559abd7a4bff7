//! Opening: which file, which PRAGMAs, and what is refused.

use std::fs;

use diskproof_load::driver::sqlite::SqliteDriver;
use diskproof_load::driver::{Driver, Fault, Protocol};
use diskproof_load::target::Target;

pub(crate) fn driver(url: &str) -> SqliteDriver {
    match Target::parse(url, None).expect(url) {
        Target::Sqlite(file) => SqliteDriver::new(file).expect(url),
        other => panic!("{url}: {other:?}"),
    }
}

fn refusal(driver: &SqliteDriver) -> (String, String) {
    match driver.connect(&[], Protocol::Prepared) {
        Err(Fault::Server(error)) => (error.code, error.message),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("connected"),
    }
}

#[test]
fn a_missing_file_is_created_only_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    let url = format!("sqlite:{}", path.display());
    let (code, message) = refusal(&driver(&url));
    assert_eq!(code, "SQLITE_CANTOPEN");
    assert!(
        message.contains("x.db") && message.contains("prepare"),
        "{message}"
    );
    assert!(!path.exists());

    let mut admin = driver(&url).creating().admin().expect("a new file");
    admin
        .execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        .unwrap();
    assert!(path.exists());
    driver(&url)
        .connect(&[], Protocol::Prepared)
        .expect("it is there now");
}

#[test]
fn what_is_no_database_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("letter.txt");
    fs::write(&path, "Dear reader, ".repeat(1000)).unwrap();
    let url = format!("sqlite:{}?journal_mode=wal", path.display());
    assert_eq!(refusal(&driver(&url)).0, "SQLITE_NOTADB");
    let (code, message) = refusal(&driver(&format!("sqlite:{}", directory.path().display())));
    assert_eq!(code, "SQLITE_CANTOPEN");
    assert!(message.contains(&directory.path().display().to_string()));
    match Target::parse("sqlite::memory:", None).unwrap() {
        Target::Sqlite(file) => {
            let error = SqliteDriver::new(file).unwrap_err().to_string();
            assert!(error.contains("RAM disk"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_pragma_takes_effect_or_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let url = |name: &str, options: &str| {
        format!("sqlite:{}?{options}", directory.path().join(name).display())
    };
    let all = "journal_mode=wal&synchronous=off&busy_timeout_ms=1234&cache_size_kib=4096\
               &page_size_bytes=8192&mmap_size_bytes=1048576&temp_store=memory\
               &wal_autocheckpoint_pages=500&journal_size_limit_bytes=65536";
    let mut admin = driver(&url("a.db", all))
        .creating()
        .admin()
        .expect("all of them");
    for (pragma, value) in [
        ("journal_mode", "wal"),
        ("synchronous", "0"),
        ("cache_size", "-4096"),
        ("page_size", "8192"),
        ("mmap_size", "1048576"),
        ("temp_store", "2"),
        ("wal_autocheckpoint", "500"),
        ("journal_size_limit", "65536"),
    ] {
        let found = admin.query_value(&format!("PRAGMA {pragma}")).unwrap();
        assert_eq!(found.as_deref(), Some(value), "{pragma}");
    }
    admin
        .execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        .unwrap();

    // A database keeps its page size, and there is none of 5000 bytes.
    for (name, options, values) in [
        ("a.db", "page_size_bytes=4096", ["4096", "8192"]),
        ("b.db", "page_size_bytes=5000", ["5000", "4096"]),
    ] {
        match driver(&url(name, options))
            .creating()
            .connect(&[], Protocol::Text)
        {
            Err(Fault::Server(error)) => {
                assert_eq!(error.code, "SQLITE_PRAGMA");
                for value in values {
                    assert!(error.message.contains(value), "{}", error.message);
                }
            }
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("{options} passed in silence"),
        }
    }
}
