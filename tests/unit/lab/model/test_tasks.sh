#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_tasks - `berthctl model` throttle, locality, cohort and steal: runs that can be followed by hand, the paper's example, and what can be wrong.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"

wrong() { # MODEL INPUT TEXT
    refuses "$2" 1 "berthctl: model $1: $3" model "$1"
}

# ---- throttle: four threads, of which one rests from second 2 to 3 ----
loop='"loop":{"chunks":16,"work":1,"bandwidth":0}'
answers "{\"threads\":4,\"dt_ms\":1000,\"saturated\":0.9,\"idle\":0.6,\"hold\":1,\"samples\":[1,0.8,0],$loop}" \
    '{"reduced":1,"idle_thread_s":1.0,"throttled_s":2.0,"seconds":5.0}' model throttle
# what the program draws itself: 4 threads are at the roof, 3 below it, and one, the last of a loop, is idle (below 0.7 * 0.9)
answers '{"threads":4,"dt_ms":500,"saturated":0.9,"hold":1,"rounds":2,"loops":[{"chunks":4,"work":1,"bandwidth":0.25},{"chunks":4,"work":1,"bandwidth":0.25}]}' \
    '{"reduced":2,"idle_thread_s":3.0,"throttled_s":4.0,"seconds":6.0}' model throttle
# the paper's tables 2 and 3, on 300 phases of 100 ms at the roof and 20 ms below it, which 32 threads have: the lazy scheduler (50 samples in a
# row) throttles least often, takes longest, and its threads rest longest; the aggressive one (1) throttles most often
loops=$(awk 'BEGIN {
    srand(1)
    for (i = 0; i < 300; i++)
        printf "%s{\"chunks\":%d,\"work\":0.002,\"bandwidth\":%s}", i ? "," : "",
            int(-log(1 - rand()) * (i % 2 ? 0.02 : 0.1) * 32 / 0.002) + 1, i % 2 ? 0.01 : 0.05
}')
for hold in 50 5 1; do
    run "{\"threads\":32,\"dt_ms\":1,\"saturated\":0.9,\"hold\":$hold,\"loops\":[$loops]}" model throttle
    sed 's/[^0-9.,]//g' "$dir/out"
done >"$dir/holds" # reduced, idle_thread_s, throttled_s, seconds
awk -F, '{ reduced[NR] = $1; idle[NR] = $2; seconds[NR] = $4 } END {
    exit !(NR == 3 && reduced[1] < reduced[2] && reduced[2] < reduced[3] && seconds[1] > seconds[2] && seconds[1] > seconds[3] &&
        idle[1] > idle[2] && idle[1] > idle[3]) }' "$dir/holds" ||
    bad 'model throttle' 'lazy, baseline, aggressive' "$(cat "$dir/holds")"
wrong throttle '{}' 'saturated: missing'
wrong throttle '{"saturated":80}' 'saturated: 80: between 0 and 1'
wrong throttle '{"saturated":0.5,"idle":0.6}' 'idle: 0.6: below saturated (0.5) expected'
wrong throttle '{"saturated":0.5,"hold":0}' 'hold: 0:'
wrong throttle '{"saturated":0.5,"threads":0}' 'threads: 0:'
wrong throttle '{"saturated":0.5}' 'loop: missing'
wrong throttle '{"saturated":0.5,"loop":{"chunks":1}}' 'loop.work: missing'
wrong throttle '{"saturated":0.5,"loops":[]}' 'loops: empty'
wrong throttle '{"saturated":0.5,"loops":[{"chunks":1,"work":1}]}' 'loops[0].bandwidth: missing'
wrong throttle "{\"saturated\":0.5,\"samples\":[],$loop}" 'samples: empty'
wrong throttle "{\"saturated\":0.5,\"samples\":[1,2],$loop}" 'samples[1]: 2: between 0 and 1'
wrong throttle "{\"saturated\":0.5,\"rounds\":1e8,$loop}" 'chunks: 1.6e+09 in all rounds: at most 1e+08 expected'
wrong throttle '{"saturated":0.5,"loop":{"chunks":1000,"work":1000,"bandwidth":2}}' 'dt_ms: 10: at least 20 expected, as the loops have 2e+06 s of work'

# ---- locality: the example of section 5.4.1, and an object that nobody has touched, one used twice, and a tie ----
answers '{"tasks":{"t0":["s0"],"t1":["s0"],"t2":["s1"],"t3":["s0"],"t4":["s1"],"t5":["s0"]},"objects":{"s0":"n0","s1":"n1"}}' \
    '{"nodes":["n0","n1"],"similarity":[[0.5,0.0],[0.5,0.0],[0.0,0.5],[0.5,0.0],[0.0,0.5],[0.5,0.0]],"node":{"t0":"n0","t1":"n0","t2":"n1","t3":"n0","t4":"n1","t5":"n0"}}' model locality
answers '{"tasks":{"new":["x"],"twice":["a","a","b"],"tie":["b","a"],"none":[]},"objects":{"b":"far","a":"near","y":null}}' \
    '{"nodes":["far","near"],"similarity":[[0.0,0.0],[0.25,0.25],[0.25,0.25],[0.0,0.0]],"node":{"new":null,"twice":"far","tie":"far","none":null}}' model locality
wrong locality '{}' 'tasks: missing'
wrong locality '{"tasks":{}}' 'tasks: empty'
wrong locality '{"tasks":{"t":[]}}' 'objects: missing'
wrong locality '{"tasks":{"t":[1]},"objects":{}}' 'tasks.t[0]: string expected'
wrong locality '{"tasks":{"t":["s"]},"objects":{"s":0}}' 'objects.s: string expected'

# many tasks on many nodes: what is printed has an end
seq 4000 | awk '{ tasks = tasks (NR > 1 ? "," : "") "\"t" $1 "\":[\"s" $1 "\"]"; objects = objects (NR > 1 ? "," : "") "\"s" $1 "\":\"n" $1 "\"" }
    END { printf "{\"tasks\":{%s},\"objects\":{%s}}", tasks, objects }' >"$dir/square"
wrong locality "$(cat "$dir/square")" 'tasks: 4000 on 4000 nodes: a matrix of at most 10000000 cells expected'

# ---- cohort: two threads on each of two nodes that always ask; two hand-overs within each node, so that the last thread waits for 46 ns ----
always='"threads":[2,2],"hold_ns":10,"think_ns":0,"local_ns":1,"remote_ns":3,"turns":6'
run "{$always,\"bound\":2}" model cohort
grep -q '^{"per_second":89552238.*,"local":4,"remote":1,"worst_wait_ns":46\.0.*,"most_turns":1.33' "$dir/out" || bad 'model cohort' 'four local hand-overs' "$(cat "$dir/out")"
run "{$always,\"bound\":0}" model cohort
grep -q '"local":3,"remote":2,' "$dir/out" || bad 'model cohort' 'in the order in which they come' "$(cat "$dir/out")"
wrong cohort '{}' 'threads: missing'
wrong cohort '{"threads":[0]}' 'threads[0]: 0:'
wrong cohort '{"threads":[1000,1000],"hold_ns":1,"think_ns":1}' 'threads: 2000 in all: at most 1024 expected'
wrong cohort '{"threads":[1]}' 'hold_ns: missing'
wrong cohort '{"threads":[1],"hold_ns":1,"think_ns":1,"bound":-1}' 'bound: -1:'

# ---- steal: the first three tasks of a tree on two workers, as tests/unit/models/tasks/test_steal.c follows them ----
two='"domains":[[0],[1]],"latency_ns":[[77,125],[125,77]]'
run "{$two,\"tasks\":{\"kind\":\"tree\",\"n\":3,\"ns\":[10000,0]},\"policy\":\"random\",\"seed\":3}" model steal
grep -q '^{"seconds":2\.0904.*e-05,"work_s":.*,"steals":1,"remote":1,"journeys":1,"misses":9}' "$dir/out" || bad 'model steal' 'one steal' "$(cat "$dir/out")"
wrong steal '{}' 'domains: missing'
wrong steal '{"domains":[[]],"latency_ns":[[1]]}' 'domains[0]: at least one core expected'
wrong steal '{"domains":[[0],["1"]],"latency_ns":[[1,2],[1,2]]}' 'domains[1][0]: '
wrong steal '{"domains":[[0],[-1]],"latency_ns":[[1,2],[1,2]]}' 'domains[1][0]: -1:'
wrong steal '{"domains":[[0,3],[1,3]],"latency_ns":[[1,2],[1,2]]}' 'domains: core 3 is in them twice'
wrong steal "{$two,\"tasks\":{\"kind\":\"tree\",\"n\":3,\"ns\":[1,11]},\"policy\":\"random\"}" 'tasks.ns.sd: 11: at most 10 times the mean expected'
wrong steal '{"domains":[[0],[1]],"latency_ns":[[1,2]]}' 'latency_ns: a row for each of 2 domains expected'
wrong steal '{"domains":[[0],[1]],"latency_ns":[[1,2],[1,0]]}' 'latency_ns[1][1]: 0:'
wrong steal "{$two}" 'tasks: missing'
wrong steal "{$two,\"tasks\":{\"kind\":\"bush\",\"n\":3,\"ns\":[1,0]},\"policy\":\"random\"}" 'tasks.kind: '
wrong steal "{$two,\"tasks\":{\"kind\":\"tree\",\"n\":3,\"ns\":[1,0]},\"policy\":\"greed\"}" 'policy: '

# ---- steal: tables 3.2 and 4.2, on a tree of a million tasks and two domains of 12 workers: shares of misses and of remote steals ----
for policy in random threshold topology; do
    run "{\"domains\":[[0,1,2,3,4,5,6,7,8,9,10,11],[12,13,14,15,16,17,18,19,20,21,22,23]],\"latency_ns\":[[77,125],[123,75]],
        \"tasks\":{\"kind\":\"tree\",\"n\":1000000,\"ns\":[20000,5000]},\"policy\":\"$policy\"}" model steal
    echo "$policy $(tr ',' '\n' <"$dir/out" | awk -F: '/steals/ { steals = $2 } /journeys/ { journeys = $2 } /misses/ { misses = $2 + 0 } /remote/ { remote = $2 }
        END { print misses / (misses + journeys), remote / steals }')"
done >"$dir/policies"
awk '{ misses[$1] = $2; remote[$1] = $3 } END {
    exit !(misses["random"] > 0.3 && misses["threshold"] < 0.2 && misses["topology"] < 0.2 && remote["random"] > 0.4 && remote["threshold"] > 0.4 &&
        remote["topology"] < 0.13) }' "$dir/policies" || bad 'model steal' 'misses and remote steals by policy' "$(cat "$dir/policies")"
exit $failed
