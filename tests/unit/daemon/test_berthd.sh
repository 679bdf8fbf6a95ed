#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# berthd's options: what it is started for besides serving.
berthd=./berthd
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failures=0

# expect STATUS "WHAT IT SAYS" OPTION..
expect() {
    wanted=$1 says=$2
    shift 2
    said=$("$berthd" "$@" 2>&1 </dev/null)
    rc=$?
    [ "$rc" = "$wanted" ] && case $said in *"$says"*) return ;; *) ;; esac
    failures=$((failures + 1))
    printf 'not ok - berthd %s: %s "%s", expected %s "%s"\n' "$*" "$rc" "$said" "$wanted" "$says"
}

conf() {
    printf '%s\n' "$@" >"$dir/berth.conf"
    chmod 600 "$dir/berth.conf"
}

mkdir "$dir/state"
kept="control = 0
ledger = off
enforcement = dryrun
tune = socket=$dir/s
tune = state_dir=$dir/state
tune = profile_db=$dir/state/p.db
tune = ledger_queue=$dir/state/q"
chmod 700 "$dir"

conf "$kept" "tune = sweep=5s"
expect 0 "berthd: $dir/berth.conf: ok" --check -c "$dir/berth.conf"
[ -z "$(ls -A "$dir/state")" ] || { echo "not ok - --check has made something"; failures=$((failures + 1)); }
conf "$kept" "tune = user=nobody-of-that-name"
expect 1 "berthd: check: user: nobody-of-that-name: there is no such user" --check -c "$dir/berth.conf"
conf "$kept" "colour = blue"
expect 1 "$dir/berth.conf:8: " --check -c "$dir/berth.conf"
conf "$kept" "topology = nowhere:2"
expect 1 "berthd: check: " --check --test-keys -c "$dir/berth.conf"
expect 1 "berthd: check: " --check -c "$dir/berth.conf" # of a build folder
cp "$berthd" "$dir/installed"
built=$berthd berthd=$dir/installed
expect 0 "topology (line 8) is for tests, and has no effect" --check -c "$dir/berth.conf"
berthd=$built
conf "$kept" "window = 2s" "isolate_users = root, 7" "rest = 7s"
expect 0 "berth.conf is of an older version: window (line 8) is tune = window=2s, isolate_users (line 9) is grant = isolate=root, 7, rest (line 10) is tune = rest=7s" \
    --check -c "$dir/berth.conf"
[ "$("$berthd" --check -c "$dir/berth.conf" 2>&1 | grep -c "older version")" = 1 ] || { echo "not ok - not one warning"; failures=$((failures + 1)); }
conf "$kept"
expect 1 "berthd: configuration: $dir/none" --check -c "$dir/none"
chmod 777 "$dir/state"
expect 1 "berthd: check: profile_db: $dir/state: mode 0777" --check -c "$dir/berth.conf"
chmod 700 "$dir/state"

# What is not at its default, in the order of the manual, and readable as a file again.
conf "$kept" "tune = sweep=5s" "policy = di"
expect 0 "policy = di" --print-config --changed -c "$dir/berth.conf"
"$berthd" --print-config --changed -c "$dir/berth.conf" >"$dir/changed"
grep -q 'sweep' "$dir/changed" && "$berthd" --print-config | grep -q '^# sweep=5s$' &&
    { echo "not ok - sweep is at its default"; failures=$((failures + 1)); }
chmod 600 "$dir/changed"
"$berthd" --print-config --changed -c "$dir/changed" | cmp -s - "$dir/changed" ||
    { echo "not ok - what was changed reads otherwise"; failures=$((failures + 1)); }
printf '' >"$dir/empty"
chmod 600 "$dir/empty"
[ -z "$("$berthd" --print-config --changed -c "$dir/empty")" ] || { echo "not ok - nothing was changed"; failures=$((failures + 1)); }
expect 2 "--changed: goes with --print-config" --changed
expect 2 "try 'berthd --help'" nonsense
expect 0 "--check" --help

# A signal that was there before anybody could hear it stops berthd as any other, once it has started.
conf "$kept"
said=$(timeout -s KILL 60 env --block-signal=TERM \
    sh -c 'kill -TERM $$; exec "$0" -c "$1"' "$berthd" "$dir/berth.conf" 2>&1)
rc=$?
case "$rc $said" in
"0 "*stopping*) ;;
*) echo "not ok - a signal while it started: $rc \"$said\"" && failures=$((failures + 1)) ;;
esac

# Where there are no folders yet, as without systemd after the node has started, they are made.
printf '%s\n' "$kept" | sed "s|socket=.*|socket=$dir/run/s|; s|$dir/state|$dir/fresh|; s|^ledger = .*|ledger = sqlite:$dir/fresh/l.db|" >"$dir/berth.conf"
said=$(timeout -s KILL 60 env --block-signal=TERM sh -c 'kill -TERM $$; exec "$0" -c "$1"' "$berthd" "$dir/berth.conf" 2>&1)
case $said in
*" error "*) echo "not ok - berthd without folders: \"$said\"" && failures=$((failures + 1)) ;;
*stopping*) ;;
*) echo "not ok - berthd without folders: \"$said\"" && failures=$((failures + 1)) ;;
esac
[ $failures = 0 ] && echo ok
exit $failures
