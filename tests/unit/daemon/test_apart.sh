#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# berthd as another user: what the two processes may do, and how they end.
[ "$(id -u)" = 0 ] || { echo "only root can become another user"; exit 77; }
getent passwd daemon >/dev/null || { echo "there is no user daemon"; exit 77; }
dir=$(mktemp -d) || exit 99
hand=
trap '[ -z "$hand" ] || kill -KILL "$hand" 2>/dev/null; rm -rf "$dir"' EXIT
failures=0

not_ok() {
    failures=$((failures + 1))
    echo "not ok - $*"
}

same() { # WHAT IS EXPECTED
    [ "$2" = "$3" ] || not_ok "$1: '$2', expected '$3'"
}

# soon COMMAND..: it is true within ten seconds.
soon() {
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || { not_ok "not soon: $*"; return 1; }
        sleep 0.1
    done
}

conf() { # USER
    cat >"$dir/berth.conf" <<END
ledger = off
enforcement = dryrun
tune = user=$1
tune = socket=$dir/run/s, state_dir=$dir/state
tune = profile_db=$dir/state/p.db, ledger_queue=$dir/state/q
END
    chmod 644 "$dir/berth.conf"
}

# As the build folder need not be open to all.
cp ./berthd ./berth-hand "$dir/"
chmod 755 "$dir"
mkdir "$dir/state" "$dir/run"
chown daemon "$dir/run"
setpriv --reuid=daemon --regid=daemon --clear-groups test -x "$dir/berthd" || { echo "$dir is closed to the user daemon"; exit 77; }

begin() {
    : >"$dir/log" # its own processes are told by the one whose name is in it
    "$dir/berthd" -c "$dir/berth.conf" --test-keys >"$dir/log" 2>&1 &
    hand=$!
    soon grep -q "berthd .*: [0-9]* cores" "$dir/log" || cat "$dir/log"
    find_head
}

find_head() {
    head=$(cat "/proc/$hand/task/$hand/children" 2>/dev/null)
    head=${head% }
}

starts() { # TIMES: berthd has said so often that it is ready
    [ "$(grep -c "berthd .*: [0-9]* cores" "$dir/log")" = "$1" ]
}

says() { # PID KEY: a line of its status
    sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status" | tr '\t' ' '
}

gone() {
    [ ! -d "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null
}

ended() { # STATUS
    soon gone "$hand"
    wait "$hand"
    same "status of berth-hand" "$?" "$1"
    hand=
}

# ---- what they are ----
conf daemon
begin
uid=$(id -u daemon)
same "root's program" "$(cat "/proc/$hand/comm")" berth-hand
same "berthd" "$(cat "/proc/$head/comm")" berthd
same "its user" "$(says "$head" Uid)" "$uid $uid $uid $uid"
for set in CapInh CapPrm CapEff CapAmb; do
    same "$set of berthd" "$(says "$head" $set)" 0000000000000000
done
for fd in 3 4 5; do # no program that it starts has its links to berth-hand
    same "flags of its descriptor $fd" "$(sed -n 's/^flags:[[:space:]]*\(02......\)$/closed at exec/p' "/proc/$head/fdinfo/$fd")" "closed at exec"
done
same "NoNewPrivs of berthd" "$(says "$head" NoNewPrivs)" 1
same "NoNewPrivs of berth-hand" "$(says "$hand" NoNewPrivs)" 1
same "owner of the plugin's socket" "$(stat -c %u:%a "$dir/run/s.plugin")" 0:600
same "owner of the users' socket" "$(stat -c %u:%a "$dir/run/s")" "$uid:666"
same "owner of the state" "$(stat -c %u "$dir/state")" "$uid"
./berthctl top -b -n 1 --socket "$dir/run/s" >/dev/null || not_ok "users' socket: no answer"
./berthctl top -b -n 1 --socket "$dir/run/s.plugin" >/dev/null || not_ok "plugin's socket: no answer"

# ---- a socket that is gone is made anew ----
rm "$dir/run/s.plugin"
soon test -S "$dir/run/s.plugin"
./berthctl top -b -n 1 --socket "$dir/run/s.plugin" >/dev/null || not_ok "the new socket: no answer"

# ---- how they end ----
echo "colour = blue" >>"$dir/berth.conf"
kill -HUP "$hand"
soon grep -q "colour.*the old configuration stays" "$dir/log"
conf daemon
kill -TERM "$hand"
ended 0
soon gone "$head"
same "the plugin's socket, after the end" "$(ls "$dir/run/s.plugin" 2>/dev/null)" ""

# A berthd that was killed is started again, four times.
begin
for n in 2 3 4 5; do
    kill -KILL "$head"
    soon starts "$n" || break
    find_head
done
./berthctl top -b -n 1 --socket "$dir/run/s.plugin" >/dev/null || not_ok "the fifth berthd: no answer"
kill -KILL "$head"
ended 1
grep -q "berth-hand: berthd: Killed" "$dir/log" || not_ok "it is not said that berthd was killed"

begin
kill -KILL "$hand"
soon gone "$head"
wait "$hand" 2>/dev/null
hand=

# ---- who it cannot be ----
conf nobody-of-that-name
said=$("$dir/berthd" -c "$dir/berth.conf" 2>&1)
same "status" $? 1
same "a user that is none" "$said" "berthd: start: user: nobody-of-that-name: there is no such user"
said=$("$dir/berth-hand" 2>&1)
same "berth-hand by hand" "$?, $said" "2, berth-hand: usage: berthd(8) starts it, where the key user of berth.conf says so"
[ "$failures" = 0 ]
