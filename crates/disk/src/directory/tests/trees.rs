//! The rules of names, one by one.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::SystemTime;

use fuser::{Errno, FileType};

use super::super::inode::{Directory, File, Kind, Number, Owner};
use super::super::rename::Taken;
use super::super::space::Space;
use super::super::tree::{Attributes, Moment, ROOT, Tree};

const OWNER: Owner = Owner {
    uid: 1,
    gid: 2,
    permissions: 0o755,
};

fn moment() -> Moment {
    Moment {
        now: SystemTime::now(),
        transaction: 7,
    }
}

fn tree() -> Tree {
    Tree::new(Space::new(0, 10), OWNER, SystemTime::now())
}

fn file(tree: &mut Tree, parent: Number, name: &str) -> Number {
    let kind = Kind::File(File::default());
    tree.make(parent, name.as_ref(), kind, OWNER, moment())
        .expect("a free name")
}

fn directory(tree: &mut Tree, parent: Number, name: &str) -> Number {
    let kind = Kind::Directory(Directory::new(parent));
    tree.make(parent, name.as_ref(), kind, OWNER, moment())
        .expect("a free name")
}

fn rename(
    tree: &mut Tree,
    from: (Number, &str),
    to: (Number, &str),
    taken: Taken,
) -> Result<(), Errno> {
    let (from, to) = ((from.0, OsStr::new(from.1)), (to.0, OsStr::new(to.1)));
    tree.rename(from, to, taken, moment()).map(|_| ())
}

fn links(tree: &Tree, number: Number) -> u32 {
    tree.inode(number).expect("it is there").links
}

#[test]
fn a_name_is_given_once_and_leads_to_one_thing() {
    let mut tree = tree();
    let a = file(&mut tree, ROOT, "a");
    let again = Kind::Link(PathBuf::from("a"));
    let error = tree.make(ROOT, "a".as_ref(), again, OWNER, moment());
    assert_eq!(error, Err(Errno::EEXIST));
    assert_eq!(tree.find(ROOT, "a".as_ref()), Ok(a));
    assert_eq!(tree.find(a, "b".as_ref()), Err(Errno::ENOTDIR));
    assert_eq!(
        tree.find(ROOT, "x".repeat(256).as_ref()),
        Err(Errno::ENAMETOOLONG)
    );
    assert_eq!(
        tree.find(ROOT, "x".repeat(255).as_ref()),
        Err(Errno::ENOENT)
    );
}

#[test]
fn directories_count_their_links_and_go_only_when_empty() {
    let mut tree = tree();
    let a = directory(&mut tree, ROOT, "a");
    let b = directory(&mut tree, a, "b");
    assert_eq!(
        (links(&tree, ROOT), links(&tree, a), links(&tree, b)),
        (3, 3, 2)
    );
    let remove = |tree: &mut Tree, parent, name: &str| {
        tree.remove_directory(parent, name.as_ref(), moment())
    };
    assert_eq!(remove(&mut tree, ROOT, "a"), Err(Errno::ENOTEMPTY));
    assert_eq!(
        tree.unlink(ROOT, "a".as_ref(), moment()),
        Err(Errno::EISDIR)
    );
    tree.look_up(b).expect("somebody stands in it");
    assert_eq!(remove(&mut tree, a, "b"), Ok(()));
    let kind = Kind::File(File::default());
    let error = tree.make(b, "late".as_ref(), kind, OWNER, moment());
    assert_eq!(
        error,
        Err(Errno::ENOENT),
        "a removed directory takes no names"
    );
    assert_eq!(remove(&mut tree, ROOT, "a"), Ok(()));
    assert_eq!(links(&tree, ROOT), 2);
    file(&mut tree, ROOT, "f");
    assert_eq!(remove(&mut tree, ROOT, "f"), Err(Errno::ENOTDIR));
    assert_eq!(remove(&mut tree, ROOT, "gone"), Err(Errno::ENOENT));
}

#[test]
fn a_file_lives_as_long_as_a_name_an_opener_or_the_kernel_holds_it() {
    let mut tree = tree();
    let a = file(&mut tree, ROOT, "a");
    tree.link(a, ROOT, "b".as_ref(), moment())
        .expect("one more name");
    tree.look_up(a).expect("there");
    tree.open(a).expect("there");
    tree.write(a, 0, 5000, moment()).expect("space");
    assert_eq!(tree.unlink(ROOT, "a".as_ref(), moment()), Ok(Vec::new()));
    assert_eq!(tree.unlink(ROOT, "b".as_ref(), moment()), Ok(Vec::new()));
    assert_eq!(
        tree.link(a, ROOT, "c".as_ref(), moment()),
        Err(Errno::ENOENT)
    );
    assert_eq!(tree.free_blocks(), 8, "still open");
    assert_eq!(tree.close(a).len(), 1);
    assert_eq!(tree.free_blocks(), 10);
    assert_eq!(
        tree.attributes(a).map(|found| found.nlink),
        Ok(0),
        "the kernel knows it"
    );
    assert_eq!(tree.forget(a, 1), Vec::new());
    assert_eq!(tree.attributes(a), Err(Errno::ESTALE));
    assert_eq!(tree.forget(a, 1), Vec::new(), "twice does no harm");
}

#[test]
fn a_directory_has_one_name() {
    let mut tree = tree();
    let a = directory(&mut tree, ROOT, "a");
    assert_eq!(
        tree.link(a, ROOT, "b".as_ref(), moment()),
        Err(Errno::EPERM)
    );
}

#[test]
fn a_rename_replaces_what_it_may() {
    let mut tree = tree();
    let (a, _) = (file(&mut tree, ROOT, "a"), file(&mut tree, ROOT, "b"));
    let (d, e) = (
        directory(&mut tree, ROOT, "d"),
        directory(&mut tree, ROOT, "e"),
    );
    file(&mut tree, e, "in");
    let replace =
        |tree: &mut Tree, from, to| rename(tree, (ROOT, from), (ROOT, to), Taken::Replace);
    assert_eq!(replace(&mut tree, "a", "d"), Err(Errno::EISDIR));
    assert_eq!(replace(&mut tree, "d", "a"), Err(Errno::ENOTDIR));
    assert_eq!(replace(&mut tree, "d", "e"), Err(Errno::ENOTEMPTY));
    assert_eq!(replace(&mut tree, "none", "e"), Err(Errno::ENOENT));
    assert_eq!(
        rename(&mut tree, (ROOT, "a"), (ROOT, "b"), Taken::Refuse),
        Err(Errno::EEXIST)
    );
    assert_eq!(replace(&mut tree, "a", "b"), Ok(()));
    assert_eq!(tree.find(ROOT, "b".as_ref()), Ok(a));
    assert_eq!(tree.find(ROOT, "a".as_ref()), Err(Errno::ENOENT));
    assert_eq!(replace(&mut tree, "e", "d"), Ok(()), "an empty directory");
    assert_eq!(tree.find(ROOT, "d".as_ref()), Ok(e));
    assert_eq!(tree.attributes(d), Err(Errno::ESTALE));
    assert_eq!(links(&tree, ROOT), 3);
}

#[test]
fn two_names_of_one_file_stay_when_one_is_renamed_to_the_other() {
    let mut tree = tree();
    let a = file(&mut tree, ROOT, "a");
    tree.link(a, ROOT, "b".as_ref(), moment())
        .expect("one more name");
    assert_eq!(
        rename(&mut tree, (ROOT, "a"), (ROOT, "b"), Taken::Replace),
        Ok(())
    );
    assert_eq!(tree.find(ROOT, "a".as_ref()), Ok(a));
    assert_eq!(links(&tree, a), 2);
}

#[test]
fn a_directory_never_comes_to_lie_within_itself() {
    let mut tree = tree();
    let a = directory(&mut tree, ROOT, "a");
    let b = directory(&mut tree, a, "b");
    let into = rename(&mut tree, (ROOT, "a"), (b, "a"), Taken::Replace);
    assert_eq!(into, Err(Errno::EINVAL));
    assert_eq!(
        rename(&mut tree, (a, "b"), (ROOT, "b"), Taken::Replace),
        Ok(())
    );
    assert_eq!((links(&tree, ROOT), links(&tree, a)), (4, 2));
    assert_eq!(
        rename(&mut tree, (ROOT, "a"), (b, "a"), Taken::Replace),
        Ok(()),
        "no longer above"
    );
}

#[test]
fn a_listing_neither_skips_nor_repeats_while_names_come_and_go() {
    let mut tree = tree();
    for name in ["a", "b", "c", "d"] {
        file(&mut tree, ROOT, name);
    }
    let listed = |tree: &Tree, place| -> Vec<(u64, String)> {
        let root = tree.directory(ROOT).expect("the root");
        root.list(ROOT, place)
            .map(|entry| (entry.place, entry.name.to_string_lossy().into_owned()))
            .collect()
    };
    let all: Vec<String> = listed(&tree, 0).into_iter().map(|(_, name)| name).collect();
    assert_eq!(all, [".", "..", "a", "b", "c", "d"]);
    let place = listed(&tree, 0)[3].0;
    tree.unlink(ROOT, "a".as_ref(), moment()).expect("named");
    tree.unlink(ROOT, "c".as_ref(), moment()).expect("named");
    file(&mut tree, ROOT, "aa");
    let rest: Vec<String> = listed(&tree, place)
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    assert_eq!(rest, ["d", "aa"]);
}

#[test]
fn attributes_are_what_was_set() {
    let mut tree = tree();
    let number = file(&mut tree, ROOT, "a");
    tree.write(number, 0, 4097, moment()).expect("space");
    let wanted = Attributes {
        permissions: Some(0o640),
        uid: Some(5),
        modified: Some(fuser::TimeOrNow::SpecificTime(SystemTime::UNIX_EPOCH)),
        ..Attributes::default()
    };
    tree.set_attributes(number, wanted, moment())
        .expect("there");
    let found = tree.attributes(number).expect("there");
    assert_eq!((found.perm, found.uid, found.gid), (0o640, 5, OWNER.gid));
    assert_eq!(
        (found.size, found.blocks, found.kind),
        (4097, 16, FileType::RegularFile)
    );
    assert_eq!(found.mtime, SystemTime::UNIX_EPOCH);
    assert_eq!(
        tree.set_attributes(99, wanted, moment()),
        Err(Errno::ESTALE)
    );
}

#[test]
fn a_group_that_is_set_is_handed_down() {
    let mut tree = tree();
    let a = directory(&mut tree, ROOT, "a");
    let set = Attributes {
        permissions: Some(0o2775),
        gid: Some(50),
        ..Attributes::default()
    };
    tree.set_attributes(a, set, moment()).expect("there");
    let f = file(&mut tree, a, "f");
    let d = directory(&mut tree, a, "d");
    let owner = |number| tree.inode(number).expect("there").owner;
    assert_eq!((owner(f).gid, owner(f).permissions), (50, 0o755));
    assert_eq!((owner(d).gid, owner(d).permissions), (50, 0o2755));
}
