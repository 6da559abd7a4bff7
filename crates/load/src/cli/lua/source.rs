//! Finds a script, and the folders of its modules.

use std::path::{Path, PathBuf};

use crate::file;
use crate::workload::lua::LARGEST_BYTES;

/// Where sysbench keeps its own scripts.
const SYSBENCH: [&str; 2] = ["/usr/share/sysbench", "/usr/local/share/sysbench"];

/// A script that has been found.
#[derive(Debug)]
pub(in crate::cli) struct Found {
    /// As the user named it, or where it lies.
    pub(in crate::cli) name: String,
    pub(in crate::cli) text: Vec<u8>,
    /// Where its modules may lie, as templates of Lua's `package.path`.
    pub(in crate::cli) path: String,
    /// The folders of those, as far as they are there, without symbolic links.
    pub(in crate::cli) folders: Vec<PathBuf>,
}

/// Finds the file as it is named, or among sysbench's own, with or without `.lua`.
pub(in crate::cli) fn find(script: &Path) -> Result<Found, String> {
    let mut names = vec![script.to_owned()];
    if script
        .extension()
        .is_none_or(|extension| extension != "lua")
    {
        let mut longer = script.as_os_str().to_owned();
        longer.push(".lua");
        names.push(longer.into());
    }
    let mut candidates = names.clone();
    if script.components().count() == 1 {
        let own = SYSBENCH.iter().map(Path::new);
        candidates.extend(own.flat_map(|folder| names.iter().map(|name| folder.join(name))));
    }
    let path = candidates.iter().find(|path| path.is_file());
    let path = path.ok_or_else(|| {
        let looked: Vec<_> = candidates
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        format!(
            "there is no script {}; looked for {} (`diskproof-load run oltp` needs none)",
            script.display(),
            looked.join(", ")
        )
    })?;
    let bytes = file::read(path, LARGEST_BYTES)
        .map_err(|reason| format!("{}: {reason}", path.display()))?;
    let own = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let own = own.unwrap_or(Path::new("."));
    let mut templates: Vec<_> = [own, &own.join("lua"), Path::new(".")]
        .into_iter()
        .chain(SYSBENCH.iter().map(Path::new))
        .map(|folder| format!("{}/?.lua", folder.display()))
        .collect();
    // Lua's own variable; two semicolons in it stand for what it has otherwise.
    let given = std::env::var("LUA_PATH").unwrap_or_default();
    let given = given.split(';').filter(|template| !template.is_empty());
    templates.extend(given.map(str::to_owned));
    let folder = |template: &String| {
        let (start, _) = template.split_once('?').unwrap_or((template, ""));
        let folder = Path::new(start.rsplit_once('/').map_or(".", |(folder, _)| folder));
        folder.canonicalize().ok()
    };
    Ok(Found {
        folders: templates.iter().filter_map(folder).collect(),
        name: path.display().to_string(),
        text: file::without_mark(&bytes).to_vec(),
        path: templates.join(";"),
    })
}
