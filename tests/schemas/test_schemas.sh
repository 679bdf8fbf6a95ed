#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_schemas - what berthctl prints with --json is as the schemas of doc/schemas say, no field more: a berthd in dryrun with two steps,
# one of them sized, before and after they have ended, and a plan.
dir=$(mktemp -d) || exit 99
src=${srcdir:-.}
failed=0
pids=
trap 'for pid in $pids; do kill "$pid" 2>/dev/null; done; wait; rm -rf "$dir"' EXIT
for python in python3 /usr/bin/python3 none; do
    "$python" -c 'import jsonschema' 2>/dev/null && break
done
[ $python != none ] || { echo "SKIP: python3-jsonschema is not installed"; exit 77; }

bad() {
    printf 'not ok: %s\n' "$*" >&2
    failed=1
}

valid() { # SCHEMA NAME < JSON
    file=doc/schemas/$1.schema.json
    "$python" "$src/tests/schemas/validate.py" "$file" "$2"
}

# asked SCHEMA VERB OPTION..
asked() {
    schema=$1
    shift
    ./berthctl "$@" --json >"$dir/out" 2>"$dir/err" || bad "berthctl $*: $(cat "$dir/err")"
    valid "$schema" "$*" <"$dir/out" >&2 || bad "berthctl $*: not as $schema.schema.json says"
}

wait_for() { # WHAT COMMAND..
    what=$1 i=0
    shift
    until "$@" >/dev/null 2>&1; do
        i=$((i + 1))
        [ $i -lt 600 ] || { bad "no $what after 60 s"; cat "$dir/log" >&2; exit 1; }
        sleep 0.1
    done
}

tell() { # LINE
    tests/cluster/tell "$dir/s" "$1" >"$dir/told" || bad "berthd hangs up"
    grep -q '"ok":true' "$dir/told" || bad "$1: $(cat "$dir/told")"
}

register() { # JOB PID OPTIONS
    tell '{"version":1,"op":"register","job":'"$1"',"step":0,"uid":'"$(id -u)"',"job_cores":"0-1","step_cores":"0-1","exe":"/bin/sleep","options":'"$3"',"tasks":[[0,'"$2"']]}'
}

ended() {
    [ "$(./berthctl report --ledger "sqlite:$dir/state/l.db" --json | grep -c '^{"job_id"')" = 2 ]
}

chmod 700 "$dir"
mkdir -m 700 "$dir/state"
cat >"$dir/berth.conf" <<CONF
tune = socket=$dir/s
control = 0
tune = state_dir=$dir/state
tune = profile_db=$dir/state/p.db
ledger = sqlite:$dir/state/l.db
tune = ledger_queue=$dir/state/q
tune = machine_profile=$dir/none
enforcement = dryrun
tune = blackboard=on
topology = package:2 l3:2 core:2 pu:1
CONF
chmod 600 "$dir/berth.conf"
./berthd --test-keys -c "$dir/berth.conf" >"$dir/log" 2>&1 &
pids=$!
wait_for "answer of berthd" ./berthctl status --socket "$dir/s"
asked status status --socket "$dir/s"
asked blackboard blackboard -f "$dir/state/blackboard"
sleep 1000 &
first=$!
sleep 1000 &
second=$!
pids="$pids $first $second"
register 7 $first '{"mode":"auto","max_slowdown":0.1,"isolate":true}'
register 8 $second '{"mode":"auto","size":true,"threads":"spread"}'
asked status status --socket "$dir/s"
asked explain explain 7 --socket "$dir/s"
asked explain explain 8.0 --socket "$dir/s"

# The messages of a site's own policy, and what berthd answers to them: one of each kind.
PYTHONPATH=$src/contrib/policies PYTHONDONTWRITEBYTECODE=1 "$python" - "$dir/s" >"$dir/lines" <<'END' || bad "a policy is not answered"
import json, sys
from berth_policy import Berth
berth = Berth("mine", sys.argv[1])
for request in (dict(op="cores"), dict(op="propose", policy="mine", job=8, step=0, cpus="0"),
                dict(op="propose", policy="mine", job=8, step=0, khz=1000000, for_s=5)):
    for line in [dict(version=1, **request)] + berth.ask(**request):
        print(json.dumps(line))
END
while IFS= read -r line; do
    printf '%s' "$line" | valid policy "$line" >&2 || bad "not as policy.schema.json says: $line"
done <"$dir/lines"
grep -q '"core": {"cpus": "0"' "$dir/lines" && grep -q 'step 8.0: nothing is changed on this node (enforcement=dryrun)' "$dir/lines" ||
    bad "cores, and a refusal: $(cat "$dir/lines")"

for job in 7 8; do tell '{"version":1,"op":"end","job":'$job',"step":0,"exit_status":0,"user_s":1,"system_s":0.5}'; done
asked explain explain 7 --socket "$dir/s"
wait_for "records" ended
for what in "" "--by user" "--by account" "--by job" "--by day" "--by partition" "--by node" "--by month,user --divide" "-X" "--per-node" "-o jobid,energy,group" "--benefit" "--variation"; do
    # shellcheck disable=SC2086 # words
    asked report report --ledger "sqlite:$dir/state/l.db" $what
done
asked status status --config "$dir/berth.conf" --benefit

# A Slurm that is played, and what two nodes have told: one is well, one released; one is silent, one down.
mkdir "$dir/slurm"
printf '#!/bin/sh\nprintf "%%s\\n" "n1|idle" "n2|mixed" "n3|idle" "n4|down*"\n' >"$dir/slurm/sinfo"
chmod 755 "$dir/slurm/sinfo"
now=$(date +%s)
printf '%s\n' "n1 $now $now 1 0 0 0 0" "n2 $now $now 1 1 0 0 0" | tests/unit/common/ledger_fill "sqlite:$dir/state/all.db" nodes || exit 99
PATH=$dir/slurm:$PATH ./berthctl status --cluster --config "$dir/berth.conf" --ledger "sqlite:$dir/state/all.db" --json >"$dir/out"
[ $? = 1 ] && [ "$(grep -o '"berth_is":"[a-z ]*"' "$dir/out" | cut -d'"' -f4 | paste -s -d' ')" = 'silent released down ok' ] || bad "status --cluster: $(cat "$dir/out")"
valid cluster "status --cluster" <"$dir/out" >&2 || bad "status --cluster: not as cluster.schema.json says"
asked plan plan --policy contend --topology 'package:2 l3:2 core:4 pu:1' "$src/doc/plan.json"
asked plan plan --policy di --topology 'package:2 l3:2 core:4 pu:1' "$src/doc/plan.json"

# The validator sees what is more, what is missing, and what is of another kind.
right=$(cat "$dir/out")
for wrong in 's/^{/{"colour":1,/' 's/"policy":/"polcy":/' 's/"exact":[a-z]*/"exact":"no"/'; do
    echo "$right" | sed "$wrong" | valid plan wrong >"$dir/said"
    [ $? = 1 ] && [ -s "$dir/said" ] || bad "$wrong is let through"
done
exit $failed
