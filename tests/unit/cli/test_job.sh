#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_job - `berthctl job` where no berthd runs: a ledger in a file, and a Slurm that is played; and Slurm's mail with that page.
# shellcheck disable=SC2154 # ctl_check's dir and berthctl
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"
fill=${LEDGER_FILL:-./tests/unit/common/ledger_fill}
export TZ=UTC0 LC_ALL=C
mkdir "$dir/slurm"
PATH=$dir/slurm:$PATH

# says_of PROGRAM STATUS LINE..: what a program of Slurm prints, with a warning in the middle of its first line
says_of() {
    program=$1 status=$2
    shift 2
    printf '%s\n' "$@" >"$dir/slurm/$program.says"
    printf '#!/bin/sh\nhead -c 1 %s\necho "warning|" >&2\ntail -c +2 %s\nexit %s\n' "$dir/slurm/$program.says" "$dir/slurm/$program.says" "$status" >"$dir/slurm/$program"
    chmod 755 "$dir/slurm/$program"
}
me=$(id -u)
other=$((me + 1))
printf 'tune = socket=%s\nledger = sqlite:%s\n' "$dir/none" "$dir/ledger.db" >"$dir/berth.conf"
chmod 600 "$dir/berth.conf"
# record JOB STEP START SECONDS STATUS FIELDS
record() {
    printf '{"cluster":"c","node":"n1","job":%s,"step":%s,"uid":%s,"gid":100,"start":%s,"end":%s,"elapsed_s":%s,"exit_status":%s,"cores_given":4,"cores_used":4,"program":"solver"%s}\n' \
        "$1" "$2" "$me" "$3" $(($3 + $4)) "$4" "$5" "$6"
}
began=1700000000 # 2023-11-14T22:13:20
placed=',"state":"placed","home":"0-3","cpus":"4-7","moves":2,"reason":"the emptiest","slowdown_predicted":0.05,"slowdown_home":0.26,"slowdown_observed":0.04,"uj_package":3000000000,"uj_idle":750000000,"idle_energy":"cores","user_s":300,"system_s":20,"cpu_wait_s":480,"maxrss_kib":524288'
{
    record 12 0 $began 100 0 "$placed"
    record 12 1 $((began - 1000)) 100 0 "$placed" # of the run before
    record 14 0 $began 100 15 ',"array_job":13,"array_task":3,"identity":"slurmctld","state":"left","reason":"not opted in","user_s":10,"system_s":0'
} | "$fill" "sqlite:$dir/ledger.db" || exit 99

# page WANTED JOB: the page, blanks as one
page() {
    run '' job --config "$dir/berth.conf" "$2"
    [ $status -eq 0 ] || bad "job $2" "status 0" "$status: $(cat "$dir/err")"
    got=$(tr -s ' \n' '  ' <"$dir/out")
    [ "$got" = "$1 " ] || bad "job $2" "$1" "$got"
}
row="12|$me|1"
rest='12|1:40|2023-11-14T22:13:20|4||main|chem|a|b'
says_of squeue 0 "$row|CANCELLED|n1|$rest"
says_of sacct 1 'Slurm accounting storage is disabled'
says_of scontrol 0 'JobId=12 JobName=a|b ReqTRES=cpu=1 AllocTRES=cpu=4,mem=1G,node=1,billing=4 Power='
says_of srun 1 'nobody starts me'
user=$(id -un)
body="cpu 80 % of 4 cores: 5:20 of CPU time used waiting 8:00 for a CPU: 60 % of the time that it could have run memory largest process 512.0 MiB: 50 % of what Slurm gave on its node energy 3.0 kJ, 30.0 W on average; 25 % of it is what cores take when idle slowdown predicted 5.0 %, where Slurm put it 26 %, measured 4.0 % (slower than alone) berth 1 step placed; moved 2 times hint none 12.0 solver: berth put it on CPUs 4-7; Slurm had given 0-3; it has ended (from the ledger, node n1)"
page "job 12 a|b of $user, account chem, partition main, on n1 state CANCELLED; ran for 1:40 $body" 12
# squeue knows it no longer, sacct does, and who ended it
says_of squeue 1 'slurm_load_jobs error: Invalid job id specified'
says_of sacct 0 "$row|CANCELLED by 77|n1|12|00:01:40|2023-11-14T22:13:20|4|billing=4,cpu=4,mem=1024M,node=1|main|chem|a|b"
page "job 12 a|b of $user, account chem, partition main, on n1 state CANCELLED by 77; ran for 1:40 $body" 12
run '' job --json --config "$dir/berth.conf" 12
for field in '"job_id":"12","state":"CANCELLED",' '"cpu_efficiency":0.8' '"memory_efficiency":0.5,' '"cpu_wait_s":480' '"energy_j":3000' '"idle_j":750' '"idle_energy":"cores",' '"home":0.26' '"hint":null,' '"steps":[{"id":"12.0",'; do
    grep -qF -e "$field" "$dir/out" || bad 'job --json' "$field" "$(cat "$dir/out")"
done
[ "$(grep -o '"id":"12.' "$dir/out" | wc -l)" -eq 1 ] || bad 'job --json' 'the last run only' "$(cat "$dir/out")"
# of a cluster without accounting squeue prints what it does not have
says_of squeue 0 "12|$me|1|CANCELLED|n1|12|1:40|2023-11-14T22:13:20|4||(null)|(null)|a|b"
page "job 12 a|b of $user, on n1 state CANCELLED; ran for 1:40 $body" 12
run '' job --json --config "$dir/berth.conf" 12
for field in '"partition":null,' '"account":null,' '"node_list":"n1",'; do
    grep -qF -e "$field" "$dir/out" || bad 'job --json, no accounting' "$field" "$(cat "$dir/out")"
done
says_of squeue 1 'slurm_load_jobs error: Invalid job id specified'
# a task of an array, at its time limit; without Slurm's word its steps alone
says_of sacct 0 "14|$me|1|TIMEOUT|n1|13_3|00:01:40|2023-11-14T22:13:20|4||main|chem|tasks"
run '' job --config "$dir/berth.conf" 13_3
grep -q '^job 13_3 *tasks of ' "$dir/out" || bad 'job 13_3' 'its name' "$(cat "$dir/out")"
grep -q '^state *TIMEOUT; ran for 1:40$' "$dir/out" || bad 'job 13_3' TIMEOUT "$(cat "$dir/out")"
grep -q '^hint *it came to its time limit: ask for more (--time)$' "$dir/out" || bad 'job 13_3' 'a hint' "$(cat "$dir/out")"
grep -q '^berth *1 step left alone (not opted in)$' "$dir/out" || bad 'job 13_3' 'what berth did' "$(cat "$dir/out")"
says_of sacct 1 'Slurm accounting storage is disabled'
run '' job --config "$dir/berth.conf" 13_3
grep -q '^state *not known to squeue and sacct; ran for 1:40$' "$dir/out" || bad 'job 13_3, no Slurm' 'no state' "$(cat "$dir/out")"
grep -q '^hint *it used 0.1 of its 4 cores: ' "$dir/out" || bad 'job 13_3, no Slurm' 'a hint' "$(cat "$dir/out")"
# one line of what berth has nothing of, and of what is another user's
says_of squeue 0 "99|$me|1|COMPLETED||99|1:40|2023-11-14T22:13:20|4||main|chem|x"
refuses '' 1 'berthctl: 99: it is COMPLETED, and ran nowhere' job --config "$dir/berth.conf" 99
says_of squeue 0 "99|$other|1|RUNNING|n1|99|1:40|2023-11-14T22:13:20|4||main|chem|x"
refuses '' 1 "berthctl: 99: it is another user's" job --config "$dir/berth.conf" 99
says_of squeue 1 ''
refuses '' 1 "on the job's node type: berthctl job 99" job --config "$dir/berth.conf" 99
refuses '' 2 "'12.0' is no JOB[_TASK|+PART], as 4711, 4711_2 or 4711+1" job 12.0
refuses '' 2 'one JOB or JOB_TASK' job

# ---- of a berthd that remembers ended steps ----
fake=${FAKE_BERTHD:-./tests/unit/common/fake_berthd}
remembered() {
    printf '{"version":1,"ok":true,"more":true,"step":{"id":"21.%s","state":"ended","started_at":%s,"ended_at":%s,"request":{"job":21,"step":%s,"array_job":0,"array_task":0,"uid":%s},"enforce":{"way":"cgroup2","moves":0,"reason":"%s"},"observe":{"elapsed_s":9}}}\n' \
        "$1" "$began" $((began + 9)) "$1" "$me" "$2"
}
{
    echo '{"version":1,"ok":true,"more":true,"node":{"name":"n1","history":7}}'
    remembered 0 ''
    remembered 1 'observed only, nothing was moved'
    remembered 2 'left alone: not opted in'
    echo '{"version":1,"ok":true,"more":false}'
} >"$dir/answer"
"$fake" "$dir/sock" "$dir/answer" >"$dir/asked" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$dir"' EXIT
for _ in $(seq 400); do [ -S "$dir/sock" ] && break; sleep 0.05; done
says_of squeue 0 "21|$me|1|COMPLETED|n1|21|0:09|2023-11-14T22:13:20|1||main|chem|x"
run '' job --socket "$dir/sock" 21
grep -q '^berth *1 step placed, 1 step only observed (observed only, nothing was moved), 1 step left alone$' "$dir/out" || bad 'job 21' 'what berth did' "$(cat "$dir/out" "$dir/err")"

# ---- Slurm's mail ----
mail=${srcdir:-.}/etc/berth-mail
printf '#!/bin/sh\nprintf "%%s|" "$@" >%s/mailed\ncat >>%s/mailed\n' "$dir" "$dir" >"$dir/slurm/mail"
chmod 755 "$dir/slurm/mail"
# shellcheck disable=SC2016 # the script's own words
printf '#!/bin/sh\n[ -n "$STATUS" ] && exit "$STATUS"\necho "page of $*"\n' >"$dir/slurm/berthctl"
chmod 755 "$dir/slurm/berthctl"
# mails SUBJECT WANTED
mails() {
    BERTHCTL=$dir/slurm/berthctl BERTH_MAILER=$dir/slurm/mail sh "$mail" -s "$1" anna </dev/null || bad 'berth-mail' 'status 0' "$?"
    [ "$(cat "$dir/mailed")" = "$2" ] || bad "berth-mail -s '$1'" "$2" "$(cat "$dir/mailed")"
}
mails 'Slurm Job_id=42 Name=x Ended, Run time 00:00:10, COMPLETED, ExitCode 0' '-s|Slurm Job_id=42 Name=x Ended, Run time 00:00:10, COMPLETED, ExitCode 0|anna|page of job 42'
mails 'Slurm Array Task Job_id=42_3 (45) Name=x Failed, Run time 00:00:10, TIMEOUT' '-s|Slurm Array Task Job_id=42_3 (45) Name=x Failed, Run time 00:00:10, TIMEOUT|anna|page of job 42_3'
mails 'Slurm Job_id=42 Name=x Began, Queued time 00:00:10' '-s|Slurm Job_id=42 Name=x Began, Queued time 00:00:10|anna|'
# shellcheck disable=SC2016 # nothing is run of it
mails 'Slurm Job_id=$(id) Name=; Ended' '-s|Slurm Job_id=$(id) Name=; Ended|anna|'
STATUS=1
export STATUS
mails 'Slurm Job_id=42 Name=x Ended' '-s|Slurm Job_id=42 Name=x Ended|anna|'
exit $failed
