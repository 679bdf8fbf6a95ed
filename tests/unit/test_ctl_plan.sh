#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_ctl_plan - `berthctl plan`: placements, scores and predictions worked out by hand, and each thing that can be wrong.
. "${srcdir:-.}/tests/unit/ctl_check.sh"

four='{"apps":[{"name":"mcf","llc_mpki":20},{"name":"lbm","llc_mpki":30},{"name":"namd","llc_mpki":0.5},{"name":"gcc","llc_mpki":1}]}'

# lbm, mcf, gcc, namd on two caches: 0 1 | order reversed | 1 0. Cache 0 misses 30500, cache 1 21000.
answers "$four" '{"placement":[{"name":"mcf","cpus":"2","llc":1,"node":0},{"name":"lbm","cpus":"0","llc":0,"node":0},{"name":"namd","cpus":"1","llc":0,"node":0},{"name":"gcc","cpus":"3","llc":1,"node":0}],"score":30500.0,"predicted":[{"name":"mcf","slowdown":null},{"name":"lbm","slowdown":null},{"name":"namd","slowdown":null},{"name":"gcc","slowdown":null}]}' \
    plan --json --topology 'package:1 l3:2 core:2 pu:1'

# A core is all its hardware threads; the second NUMA node; the same application twice
answers '{"apps":[{"name":"a","llc_mpki":2},{"name":"a","sdp":{"hits":[1],"misses":1000}}]}' \
    '{"placement":[{"name":"a","cpus":"0-1","llc":0,"node":0},{"name":"a","cpus":"4-5","llc":1,"node":1}],"score":2000.0,"predicted":[{"name":"a","slowdown":null},{"name":"a","slowdown":null}]}' \
    plan --json --policy di --topology 'package:2 numa:1 l3:1 core:2 pu:2' -

# Of several caches and nodes the first is named, and all in a list. Two of its three cores miss in one cache.
answers '{"apps":[{"name":"wide","cores":3,"llc_mpki":1}]}' \
    '{"placement":[{"name":"wide","cpus":"0-2","llc":0,"llcs":[0,1],"node":0,"nodes":[0,1]}],"score":2000.0,"predicted":[{"name":"wide","slowdown":null}]}' \
    plan --json --topology 'numa:2 l3:1 core:2 pu:1'

# Nobody measured b: it ranks as neutral, before the turtle, and there is no score. llc_mpki goes before sdp.
answers '{"apps":[{"name":"t","llc_mpki":0.1,"sdp":{"misses":90000}},{"name":"b"}]}' \
    '{"placement":[{"name":"t","cpus":"1","llc":1,"node":0},{"name":"b","cpus":"0","llc":0,"node":0}],"score":null,"predicted":[{"name":"t","slowdown":null},{"name":"b","slowdown":null}]}' \
    plan --json --topology 'package:1 l3:2 core:1 pu:1'

# With a matrix: its row over the neighbours in the cache, here mcf beside gcc and lbm beside namd
cat >"$dir/matrix" <<'END'
{"apps":["gcc","lbm","mcf","namd"],
 "degradation":[[1,0.125,0.25,2],[3,4,5,0.0625],[0.5,6,7,8],[9,0,10,11]]}
END
answers "$four" '{"placement":[{"name":"mcf","cpus":"2","llc":1,"node":0},{"name":"lbm","cpus":"0","llc":0,"node":0},{"name":"namd","cpus":"1","llc":0,"node":0},{"name":"gcc","cpus":"3","llc":1,"node":0}],"score":30500.0,"predicted":[{"name":"mcf","slowdown":0.5},{"name":"lbm","slowdown":0.0625},{"name":"namd","slowdown":0.0},{"name":"gcc","slowdown":0.25}]}' \
    plan --json --matrix "$dir/matrix" --topology 'package:1 l3:2 core:2 pu:1'
# alone in their caches they suffer nothing; two of a kind suffer from each other
answers '{"apps":[{"name":"gcc","llc_mpki":1},{"name":"gcc","llc_mpki":1}]}' \
    '{"placement":[{"name":"gcc","cpus":"0","llc":0,"node":0},{"name":"gcc","cpus":"1","llc":0,"node":0}],"score":2000.0,"predicted":[{"name":"gcc","slowdown":1.0},{"name":"gcc","slowdown":1.0}]}' \
    plan --json --matrix "$dir/matrix" --topology 'package:1 l3:1 core:2 pu:1'

# From a file, on a recorded machine, as a table
printf '%s' "$four" >"$dir/four"
answers '' 'NAME                 LLC   NODE   MISS/MI  SLOWDOWN  CPUS
mcf                  1     0        20000         -  4-5
lbm                  0     0        30000         -  0-1
namd                 2     0          500         -  10-11
gcc                  2     0         1000         -  8-9

uneven.xml: 4 of 6 cores, placed by di
score: 30000 (misses per million instructions in the busiest cache)' \
    plan --topology "${srcdir:-.}/tests/fixtures/topologies/uneven.xml" "$dir/four"
# a name does not drive the terminal
answers '{"apps":[{"name":"a\u001b[2Jb"}]}' 'NAME                 LLC   NODE   MISS/MI  SLOWDOWN  CPUS
a?[2Jb               0     0            -         -  0

pu:1: 1 of 1 cores, placed by di
score: - (misses per million instructions in the busiest cache)' \
    plan --topology 'pu:1'

# ---- the workload is wrong
wrong() { # INPUT TEXT
    refuses "$1" 1 "berthctl: stdin: $2" plan --topology 'pu:8'
}
wrong '' 'not JSON'
wrong '7' 'a JSON object expected'
wrong '{}' 'apps: missing'
wrong '{"apps":{}}' 'apps: array expected'
wrong '{"apps":[]}' 'apps: empty'
wrong '{"apps":[7]}' 'apps[0]: object expected'
wrong_second() { # APP TEXT
    wrong "{\"apps\":[{\"name\":\"a\"},$1]}" "apps[1].$2"
}
wrong_second '{}' 'name: missing'
wrong_second '{"name":""}' 'name: empty'
wrong_second '{"name":[]}' 'name: string expected'
wrong_second '{"name":"b","cores":0}' 'cores: at least 1'
wrong_second '{"name":"b","cores":-1}' 'cores: negative'
wrong_second '{"name":"b","cores":1.5}' 'cores: int expected'
wrong_second '{"name":"b","cores":4294967296}' 'cores: greater than'
wrong_second '{"name":"b","llc_mpki":-1}' 'llc_mpki: between 0 and'
wrong_second '{"name":"b","llc_mpki":1e300}' 'llc_mpki: between 0 and'
wrong_second '{"name":"b","llc_mpki":Infinity}' 'llc_mpki: not a finite number'
wrong_second '{"name":"b","llc_mpki":"1"}' 'llc_mpki: number expected'
wrong_second '{"name":"b","sdp":[]}' 'sdp: object expected'
wrong_second '{"name":"b","sdp":{"misses":-1}}' 'sdp.misses: between 0 and'
wrong_second '{"name":"b","sdp":{"misses":"x"}}' 'sdp.misses: number expected'
refuses "$four" 1 'plan: apps: they ask for 4 cores, pu:3 has 3' plan --topology pu:3
refuses '{"apps":[{"name":"a","cores":4294967295},{"name":"b","cores":4294967295}]}' 1 \
    'they ask for 8589934590 cores, pu:3 has 3' plan --topology pu:3

# ---- the matrix is wrong
matrix() { # MATRIX TEXT
    printf '%s' "$1" >"$dir/bad"
    refuses '{"apps":[{"name":"a"}]}' 1 "berthctl: $dir/bad: $2" plan --topology pu:1 --matrix "$dir/bad"
}
matrix '' 'not JSON'
matrix '{}' 'apps: missing'
matrix '{"apps":[1],"degradation":[[0]]}' 'apps[0]: string expected'
matrix '{"apps":["a"]}' 'degradation: missing'
matrix '{"apps":["a","a"],"degradation":[[0,0],[0,0]]}' 'apps[1]: "a" is there twice'
matrix '{"apps":["a"],"degradation":[[0],[0]]}' 'degradation: 1 rows expected'
matrix '{"apps":["a","b"],"degradation":[[0,0],[0]]}' 'degradation[1]: 2 numbers expected, not 1'
matrix '{"apps":["a"],"degradation":[0]}' 'degradation[0]: array expected'
matrix '{"apps":["a"],"degradation":[["0"]]}' 'degradation[0][0]: a number expected'
matrix '{"apps":["a"],"degradation":[[NaN]]}' 'degradation[0][0]: a finite fraction'
matrix '{"apps":["a"],"degradation":[[-1]]}' 'degradation[0][0]: a finite fraction'
matrix '{"apps":["b"],"degradation":[[0]]}' "apps: the workload's apps[0] is not among them"
refuses "$four" 1 "berthctl: $dir/none: No such file" plan --topology pu:4 --matrix "$dir/none"

# ---- the command line is wrong
refuses "$four" 1 'topology: nowhere.xml: neither an hwloc XML file' plan --topology nowhere.xml
refuses "$four" 1 'topology: /dev/null: neither an hwloc XML file' plan --topology /dev/null
refuses "$four" 1 'policy pain: not built into this berthctl; built in: di' plan --policy pain
refuses '' 1 "berthctl: $dir/none: No such file" plan "$dir/none"
refuses '' 2 '--policy: a value is missing' plan --policy
refuses '' 2 '--nosuch: no such option' plan --nosuch
refuses '' 2 'two: one FILE only' plan one two
says 'usage: berthctl plan' plan --help
says 'score: the sum' plan --help

exit $failed
