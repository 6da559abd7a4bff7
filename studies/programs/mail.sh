#!/bin/sh
# A mail box: each letter is a file, written beside its place and moved there; synced before the promise or not.
set -eu
verb=$1 directory=$2 sync=$3

deliver() {
    echo "letter $1" >"$directory/new/$1"
    if [ "$sync" != nothing ]; then sync "$directory/new/$1"; fi
    mv "$directory/new/$1" "$directory/box/$1"
    if [ "$sync" = directory ]; then sync "$directory/box"; fi
}

case $verb in
load)
    mkdir -p "$directory/new" "$directory/box"
    sync "$directory" "$directory/new" "$directory/box"
    number=0
    while :; do
        number=$((number + 1))
        echo "begin $number"
        deliver "$number"
        echo "ack $number"
    done
    ;;
check)
    for letter in "$directory/box"/*; do
        [ -e "$letter" ] || continue # the box is empty
        [ "$(cat "$letter")" = "letter ${letter##*/}" ] || { echo "$letter is not whole" >&2; exit 1; }
        echo "${letter##*/}"
    done
    ;;
esac
