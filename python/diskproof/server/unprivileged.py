"""The unprivileged user for servers that refuse to run as root, and what that user can reach."""

import os
import pwd
from pathlib import Path

from diskproof.server.base import ServerError

CANDIDATES = ("postgres", "nobody")


def unprivileged_user() -> str | None:
    """Return the user to run as; None if we are not root and stay who we are."""
    if os.geteuid() != 0:
        return None
    for name in CANDIDATES:
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise ServerError(
        f"PostgreSQL refuses to run as root, and there is no user {' or '.join(CANDIDATES)}; "
        "create one (useradd --system postgres) or run diskproof as an ordinary user"
    )


def check_reach(user: str, directory: Path) -> None:
    """Refuse a directory that a user cannot reach; ServerError names the folder in the way.

    Folders that are still to be made are open to all.
    """
    account = pwd.getpwnam(user)
    groups = set(os.getgrouplist(user, account.pw_gid))
    for parent in filter(Path.exists, reversed(directory.resolve().parents)):
        stat = parent.stat()
        may_pass = 0o100 if stat.st_uid == account.pw_uid else 0o010 if stat.st_gid in groups else 0o001
        if not stat.st_mode & may_pass:
            raise ServerError(
                f"PostgreSQL must run as user {user}, who cannot reach {directory}: {parent} is closed. "
                f"Open it with `chmod o+x {parent}`, or give the study a directory elsewhere"
            )


def give_to(user: str | None, *folders: Path) -> None:
    """Make a user the owner of folders and all that is in them; None: they stay ours."""
    if user is None:
        return
    account = pwd.getpwnam(user)
    for folder in folders:
        os.chown(folder, account.pw_uid, account.pw_gid)
        for parent, names, files in os.walk(folder):
            for name in (*names, *files):
                os.chown(Path(parent) / name, account.pw_uid, account.pw_gid, follow_symlinks=False)
