#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_why - "why is my job slow?": what `berthctl job` and explain print in five scenes - a neighbour in the cache, processes outside Slurm,
# a hyper-thread, the clock, the user's own fault - and of a job that the standing trial only observes.
# shellcheck disable=SC2154 # ctl_check's dir and berthctl
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"
fake=${FAKE_BERTHD:-./tests/unit/common/fake_berthd}
export TZ=UTC0 LC_ALL=C
mkdir "$dir/slurm"
PATH=$dir/slurm:$PATH
me=$(id -u) user=$(id -un)
printf '#!/bin/sh\necho "%s"\n' "7|$me|1|COMPLETED|n1|7|1:40|2023-11-14T22:13:20|CPUS||main|chem|x" >"$dir/slurm/squeue.in"
for program in sacct scontrol srun; do printf '#!/bin/sh\nexit 1\n' >"$dir/slurm/$program"; done
chmod 755 "$dir/slurm/"*
"$fake" "$dir/sock" "$dir/answer" >"$dir/asked" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$dir"' EXIT
for _ in $(seq 400); do [ -S "$dir/sock" ] && break; sleep 0.05; done

# scene CPUS CPU_S WAIT_S LOSS [ISOLATE [ENFORCE]]: a step that ran for 100 seconds on so many cores
scene() {
    sed "s/CPUS/$1/" "$dir/slurm/squeue.in" >"$dir/slurm/squeue" && chmod 755 "$dir/slurm/squeue"
    {
        echo '{"version":1,"ok":true,"more":true,"node":{"name":"n1","history":7}}'
        printf '{"version":1,"ok":true,"more":true,"step":{"id":"7.0","state":"ended","was":"%s","started_at":1700000000,"ended_at":1700000100,"exit_status":0,' "${7:-placed}"
        printf '"request":{"job":7,"step":0,"array_job":0,"array_task":0,"uid":%s,"exe":"/opt/calc"},"class":{"name":"turtle"},"profile":{"miss_pmi":20},' "$me"
        printf '"size":{"cores":%s,"given":%s},"place":{"home":"0","cpus":"0","policy":"contend","rank":1,"of":1,"isolate":%s},"enforce":{"way":"cgroup2","moves":0,%s},' \
            "$1" "$1" "${5:-null}" "${6:-\"reason\":\"\"}"
        printf '"observe":{"elapsed_s":100,"user_s":%s,"system_s":0,"cpu_wait_s":%s},"bill":{},"slowdown":{},"loss":{%s}}}\n' "$2" "$3" "$4"
        echo '{"version":1,"ok":true,"more":false}'
    } >"$dir/answer"
}
# says ROW WANTED: a row of the page, its lines joined; "-": there is no such row
says() {
    run '' job --socket "$dir/sock" 7
    got=$(awk -v row="$1" '/^[^ ]/ { on = $1 == row; if (on) sub(/^[^ ]+ +/, "") } on { sub(/^ +/, ""); text = text (text ? " " : "") $0 } END { print text ? text : "-" }' "$dir/out")
    [ "$got" = "$2" ] || bad "$scene: $1" "$2" "$got $(cat "$dir/err")"
}
# explains WANTED: explain's line
explains() {
    run '' explain --socket "$dir/sock" 7
    got=$(tr -s ' \n' '  ' <"$dir/out")
    case $got in *" lost $1 gain "*) ;; *) bad "$scene: explain" "$1" "$got" ;; esac
}

scene='a neighbour in the cache'
lost='22 % of the time that it could have run: 22 % sharing caches and memory with sweep (predicted)'
cache='"total":0.22,"caches":0.22,"siblings":0,"clock":null,"waiting":0.001,"threads":0,"unexplained":null,"cpus_taken_by":null,"disturbed_by":"sweep"'
scene 1 99 0.1 "$cache" '{"asked":false,"allowed":true}'
says lost "$lost"
says hint 'its neighbours cost it 22 % of its time: --contention-aware=isolate asks for a cache of its own'
explains "$lost"
scene 1 99 0.1 "$cache" '{"asked":false,"allowed":false}' # who may not ask for it is not told to
says hint none
scene 1 99 0.1 "$cache" '{"asked":true,"allowed":true}' # nor who has it
says hint none
scene 1 99 0.1 '"total":0.22,"caches":0.15,"siblings":0,"clock":0.02,"waiting":0,"threads":0,"unexplained":0.05,"cpus_taken_by":null,"disturbed_by":null' # another user's, which is private
says lost '22 % of the time that it could have run: 15 % sharing caches and memory, 2.0 % a lower clock than alone, 5.0 % not explained'

scene='processes outside Slurm'
scene 2 50 150 '"total":0.75,"caches":0,"siblings":0,"clock":null,"waiting":0.75,"threads":0,"unexplained":null,"cpus_taken_by":"outside","disturbed_by":null'
lost='75 % of the time that it could have run: 75 % waiting for a CPU that processes outside Slurm had'
says cpu '25 % of 2 cores: 0:50 of CPU time used'
says waiting '2:30 for a CPU: 75 % of the time that it could have run'
says lost "$lost"
says hint 'processes outside Slurm ran on its CPUs while it waited for them: tell the administrators, fewer or more CPUs do not help'
explains "$lost"
run '' job --socket "$dir/sock" 7
grep -q 'ask for fewer' "$dir/out" && bad "$scene" 'no advice to ask for fewer' "$(cat "$dir/out")"
run '' job --json --socket "$dir/sock" 7
grep -qF '"run_efficiency":0.25,' "$dir/out" || bad "$scene" '"run_efficiency":0.25' "$(cat "$dir/out")"
grep -qF '"loss":{"total":0.75,"caches":0.0,"siblings":0.0,"clock":null,"waiting":0.75,"threads":0.0,"unexplained":null,"cpus_taken_by":"outside","disturbed_by":null}' "$dir/out" || bad "$scene" 'its loss' "$(cat "$dir/out")"
scene='other jobs on its cores'
scene 2 100 100 '"total":0.5,"caches":0,"siblings":0,"clock":null,"waiting":0.5,"threads":0,"unexplained":null,"cpus_taken_by":"jobs","disturbed_by":null'
says hint 'other jobs ran on its CPUs while it waited for them: --exclusive has them not shared with other jobs'

scene='a hyper-thread'
scene 1 100 0 '"total":0.33,"caches":0,"siblings":0.33,"clock":null,"waiting":0,"threads":0,"unexplained":null,"cpus_taken_by":null,"disturbed_by":null'
lost="33 % of the time that it could have run: 33 % others on its cores' other hardware threads (predicted)"
says lost "$lost"
says hint 'others ran on the other hardware threads of its cores: --hint=nomultithread asks for whole cores'
explains "$lost"

scene='the clock' # which nobody can mend
scene 1 100 0 '"total":0.2,"caches":0,"siblings":0,"clock":0.2,"waiting":0,"threads":0,"unexplained":0,"cpus_taken_by":null,"disturbed_by":null'
says lost '20 % of the time that it could have run: 20 % a lower clock than alone'
says hint none
explains '20 % of the time that it could have run: 20 % a lower clock than alone'

scene='its own fault'
scene 2 200 600 '"total":0.75,"caches":0,"siblings":0,"clock":null,"waiting":0,"threads":0.75,"unexplained":null,"cpus_taken_by":null,"disturbed_by":null'
says lost '75 % of the time that it could have run: 75 % waiting for a CPU that its own threads had'
says hint 'its threads waited for each other: start no more of them than it has CPUs (OMP_NUM_THREADS), let them use all its CPUs, or ask for more (-c)'
scene 4 100 0 '"total":0,"caches":0,"siblings":0,"clock":null,"waiting":0,"threads":0,"unexplained":null,"cpus_taken_by":null,"disturbed_by":null'
says lost 'next to nothing of the time that it could have run'
says hint 'it used 1.0 of its 4 cores: ask for fewer (-n, -c), or have berth give back what it does not need (--contention-aware=size)'

scene='waiting is not known' # then what it lost may be more than what is told
scene 1 3 null "$(echo "$cache" | sed 's/"waiting":[0-9.]*/"waiting":null/')"
says lost '22 % of the time that it could have run: 22 % sharing caches and memory with sweep (predicted); how long it waited for a CPU is not known'

scene='nothing is known'
scene 1 100 0 '"total":null'
says lost -
says hint none

scene='the standing trial'
scene 1 100 0 "$cache" null '"trial":"control","reason":"control: left where Slurm put it, as 5 % are, to measure what berth gains"' observed
says berth '1 step only observed (control: left where Slurm put it, as 5 % are, to measure what berth gains)'
run '' explain --socket "$dir/sock" 7
grep -q '^why *control: left where Slurm put it, as 5 % are' "$dir/out" || bad "$scene" 'explain has the reason' "$(cat "$dir/out")"

scene='left alone' # each reason has its own remedy
scene 1 100 0 "$cache" null '"left_for":"bound","reason":"left alone: it is bound by hand (--cpu-bind)"' left
says berth '1 step left alone (it is bound by hand (--cpu-bind))'
says hint 'leave out --cpu-bind=map_.. and mask_..: then berth can place it'
scene 1 100 0 "$cache" null '"left_for":"released","reason":"left alone: root has released it (berthctl release)"' left
says hint 'it stays so; new steps are placed again when root has typed: berthctl release --end'
exit $failed
