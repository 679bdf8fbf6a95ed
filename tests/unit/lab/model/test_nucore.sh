#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_ctl_model_nucore - `berthctl model numem` and `nucore`: what goes in, what comes out, and each thing that can be wrong with it.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"

# Two nodes of two cores; node 1 reads from node 0, whose memory has 4 GB/s.
machine='"nodes":2,"cores":[2,2],"alpha":[4,10],"beta":[0.25,0.25],"uni_max":[[null,5],[5,0]],"bi_max":[[0,8],[8,0]]'
program='"local_demand":[[0,1,2],[0,1,2]],"read_solo":[[0,2],[0,null]],"write_solo":[[0,0],[0,0]]'
both="$machine,$program"

# answers INPUT OUTPUT NAME: as answers, but for the time that it took, and what cores cost where speeds are summed
answers() {
    run "$1" model "$3"
    [ $status -eq 0 ] || bad "model $3 <<< $1" "status 0" "$status: $(cat "$dir/err")"
    got=$(sed 's/,"seconds":[-+.0-9e]*}$/}/; s/:1.74999[0-9]*/:1.75/g; s/:1.49999[0-9]*/:1.5/g' "$dir/out")
    [ "$got" = "$2" ] || bad "model $3 <<< $1" "$2" "$got"
}
# Does this berthctl have GLPK?
without='berthctl: model nucore: prove: berthctl was built without GLPK'
run "{\"prove\":true,$both}" model nucore
proves=yes
[ "$(cat "$dir/err")" != "$without" ] || proves=
# gives INPUT OUTPUT NAME: the same, and of nucore OUTPUT is what is proven; who does not ask hears that it was found
gives() {
    answers "$1" "$(echo "$2" | sed 's/"bound":[^,]*,"gap":0.0,"status":"optimal"/"bound":null,"gap":null,"status":"found"/')" "$3"
    [ "$3" != nucore ] || [ ! "$proves" ] || answers "{\"prove\":true,${1#?}" "$2" "$3"
}

usage='"bandwidth":6.0,"local":[2.0,2.0],"inter":[[0.0,2.0],[0.0,0.0]]'
gives "{$both,\"allocation\":[2,2]}" \
    "{\"allocation\":[2,2],$usage,\"constraint\":[\"local/remote contention\",\"none\"],\"status\":\"optimal\"}" numem
gives "{$both,\"allocation\":[0,1]}" \
    '{"allocation":[0,1],"bandwidth":3.0,"local":[0.0,1.0],"inter":[[0.0,2.0],[0.0,0.0]],"constraint":["none","none"],"status":"optimal"}' numem
# node 0 may stay empty: node 1 takes all that it has
gives "{$both}" \
    '{"allocation":[0,2],"bandwidth":6.0,"local":[0.0,2.0],"inter":[[0.0,4.0],[0.0,0.0]],"constraint":["local/remote contention","none"],"objective":5998.0,"bound":5998.0,"gap":0.0,"status":"optimal"}' nucore
gives "{$both,\"least\":[1,0],\"cores_max\":2}" \
    '{"allocation":[1,1],"bandwidth":4.0,"local":[1.0,1.0],"inter":[[0.0,2.0],[0.0,0.0]],"constraint":["none","none"],"objective":3998.0,"bound":3998.0,"gap":0.0,"status":"optimal"}' nucore
gives "{$both,\"cores_min\":4}" \
    "{\"allocation\":[2,2],$usage,\"constraint\":[\"local/remote contention\",\"none\"],\"objective\":5996.0,\"bound\":5996.0,\"gap\":0.0,\"status\":\"optimal\"}" nucore
# routes: a link of its own, however it is written
gives "{$both,\"route\":[[[],[[0,1]]],[null,[]]],\"allocation\":[2,2]}" \
    "{\"allocation\":[2,2],$usage,\"constraint\":[\"local/remote contention\",\"none\"],\"status\":\"optimal\"}" numem

# ---- several programs
quiet='"local_demand":[[0,1,2],[0,1,2]],"read_solo":[[0,0],[0,0]],"write_solo":[[0,0],[0,0]]'
pair="$machine,\"programs\":[{\"name\":\"a\",$quiet},{\"name\":\"b\",$quiet,\"weight\":2"
gives "{$pair,\"cores_max\":3}]}" \
    '{"programs":[{"name":"a","allocation":[1,0],"bandwidth":1.0,"local":[1.0,0.0],"inter":[[0.0,0.0],[0.0,0.0]],"constraint":["none","none"],"speed":0.25,"solo_speed":null},{"name":"b","allocation":[1,2],"bandwidth":3.0,"local":[1.0,2.0],"inter":[[0.0,0.0],[0.0,0.0]],"constraint":["none","none"],"speed":0.75,"solo_speed":null}],"objective":1.75,"bound":1.75,"gap":0.0,"status":"optimal"}' nucore
gives "{$pair}],\"fairness\":0.5}" \
    '{"programs":[{"name":"a","allocation":[2,0],"bandwidth":2.0,"local":[2.0,0.0],"inter":[[0.0,0.0],[0.0,0.0]],"constraint":["none","none"],"speed":0.5,"solo_speed":1.0},{"name":"b","allocation":[0,2],"bandwidth":2.0,"local":[0.0,2.0],"inter":[[0.0,0.0],[0.0,0.0]],"constraint":["none","none"],"speed":0.5,"solo_speed":1.0}],"objective":1.5,"bound":1.5,"gap":0.0,"status":"optimal"}' nucore

# no more of a node than "most": a has nothing of node 0
gives "{$machine,\"programs\":[{\"name\":\"a\",$quiet,\"most\":[0,2]},{\"name\":\"b\",$quiet,\"cores_max\":1}]}" \
    '{"programs":[{"name":"a","allocation":[0,2],"bandwidth":2.0,"local":[0.0,2.0],"inter":[[0.0,0.0],[0.0,0.0]],"constraint":["none","none"],"speed":1.0,"solo_speed":null},{"name":"b","allocation":[1,0],"bandwidth":1.0,"local":[1.0,0.0],"inter":[[0.0,0.0],[0.0,0.0]],"constraint":["none","none"],"speed":0.25,"solo_speed":null}],"objective":1.249997,"bound":1.249997,"gap":0.0,"status":"optimal"}' nucore

wrong() { # NAME INPUT TEXT
    refuses "$2" 1 "berthctl: model $1: $3" model "$1"
}
# replace TEXT BY: the input with the first occurrence replaced
replace() {
    printf '{%s}' "$both" | awk -v old="$1" -v new="$2" '{ i = index($0, old); print substr($0, 1, i - 1) new substr($0, i + length(old)) }'
}
wrong nucore '{}' 'nodes: missing'
wrong nucore '{"nodes":0}' 'nodes: 1 to 256 expected'
wrong nucore '{"nodes":2}' 'cores: missing'
wrong nucore "$(replace '"cores":[2,2]' '"cores":[2]')" 'cores: 2 elements expected, not 1'
wrong nucore "$(replace '"cores":[2,2]' '"cores":[2,-1]')" 'cores[1]: -1: between 0 and 4096 expected'
wrong nucore "$(replace '"cores":[2,2]' '"cores":[2,1.5]')" 'cores[1]: int expected, not double'
wrong nucore "$(replace '"alpha":[4,10]' '"alpha":[4,-10]')" 'alpha[1]: -10: a bandwidth is not negative'
wrong nucore "$(replace '"alpha":[4,10]' '"alpha":[NaN,10]')" 'alpha[0]: not a finite number'
wrong nucore "$(replace '"alpha":[4,10]' '"alpha":[1e13,10]')" 'alpha[0]: 1e+13: a bandwidth is at most 1e12 GB/s'
wrong nucore "$(replace '"alpha":[4,10]' '"alpha":["4",10]')" 'alpha[0]: number expected, not string'
wrong nucore "$(replace '"alpha":[4,10]' '"alpha":4')" 'alpha: '
wrong nucore "$(replace '"beta":[0.25' '"beta":[1.5')" 'beta[0]: 1.5: a share is 0 to 1'
wrong nucore "$(replace '[null,5],[5,0]' '[null,5],[-5,0]')" 'uni_max[1][0]: -5: a bandwidth is not negative'
wrong nucore "$(replace '[null,5],[5,0]' '[null,5]')" 'uni_max: 2 elements expected, not 1'
wrong nucore "$(replace '[null,5],[5,0]' '[null,null],[5,0]')" 'uni_max[0][1]: not a number'
wrong nucore "$(replace '[0,8],[8,0]' '[0,8],[8]')" 'bi_max[1]: 2 elements expected, not 1'
wrong nucore "$(replace '[[0,1,2],[0' '[[0,1],[0')" 'local_demand[0]: 3 elements expected, not 2'
wrong nucore "$(replace '[[0,1,2],[0' '[[0,-1,2],[0')" 'local_demand[0][1]: -1: a bandwidth is not negative'
wrong nucore "$(replace '[[0,1,2],[0' '[[17,17,17],[0')" 'local_demand[0]: infeasible: beta x local_demand is more than alpha'
wrong nucore "$(replace '"read_solo":[[0,2]' '"read_solo":[[0,Infinity]')" 'read_solo[0][1]: '
wrong nucore "{$machine}" 'local_demand: missing'
wrong nucore "{$both,\"route\":[[[],[[0,1],[1,0]]],[[],[]]]}" 'route[0][1][0]: there is no such link'
wrong nucore "{$both,\"route\":[[[],[[0,7]]],[[],[]]]}" 'route[0][1][0]: 7: there is no such node'
wrong nucore "{$both,\"route\":[[[],[[0]]],[[],[]]]}" 'route[0][1][0]: 2 elements expected, not 1'
wrong nucore "{$both,\"route\":[[[],7],[[],[]]]}" 'route[0][1]: array expected, not int'
wrong nucore "{$both,\"route\":[[]]}" 'route: 2 elements expected, not 1'
unlinked="\"uni_max\":[[0,0],[5,0]],$(echo "$both" | sed 's/"uni_max":[^"]*//')"
wrong nucore "{$unlinked,\"route\":[[[],[[0,1]]],[[],[]]]}" 'route[0][1][0]: there is no such link'
wrong nucore "{$both,\"cores_max\":0}" 'cores_max: 0: between 1 and 4294967295 expected'
wrong nucore "{$both,\"cores_min\":3,\"cores_max\":2}" 'cores_max: 2: it is less than cores_min'
wrong nucore "{$both,\"cores_min\":5}" 'infeasible: cores_min, cores_max, least and cores contradict each other'
wrong nucore "{$both,\"most\":[3,2]}" 'most[0]: 3: the node has fewer cores'
wrong nucore "{$both,\"least\":[0,3]}" 'least[1]: 3: the node has fewer cores'
wrong nucore "{$both,\"prove\":1}" 'prove: boolean expected, not int'
wrong nucore "{$both,\"time_limit_s\":0}" 'time_limit_s: more than 0'
wrong nucore "{$pair}],\"fairness\":2}" 'fairness: 2: a fraction is 0 to 1'
wrong nucore "{$pair}],\"fairness\":0.8}" 'programs[1]: b: infeasible: it cannot have 0.8 of its speed alone'
# c has 2 GB/s in any case, b weighs more than a
gives "{$pair,\"cores_max\":3},{\"name\":\"c\",$quiet,\"floor\":2}]}" \
    '{"programs":[{"name":"a","allocation":[0,0],"bandwidth":0.0,"local":[0.0,0.0],"inter":[[0.0,0.0],[0.0,0.0]],"constraint":["none","none"],"speed":0.0,"solo_speed":null},{"name":"b","allocation":[2,0],"bandwidth":2.0,"local":[2.0,0.0],"inter":[[0.0,0.0],[0.0,0.0]],"constraint":["none","none"],"speed":0.5,"solo_speed":null},{"name":"c","allocation":[0,2],"bandwidth":2.0,"local":[0.0,2.0],"inter":[[0.0,0.0],[0.0,0.0]],"constraint":["none","none"],"speed":0.5,"solo_speed":null}],"objective":1.5,"bound":1.5,"gap":0.0,"status":"optimal"}' nucore
wrong nucore "{$pair,\"floor\":5}]}" 'programs[1]: b: infeasible: it cannot have 5 GB/s'
wrong nucore "{$pair,\"cores_min\":9}]}" 'programs[1]: b: infeasible: it cannot have the cores it must have'
wrong nucore "{$pair,\"weight\":-2}]}" 'programs[1].weight: -2: a weight is more than 0'
wrong nucore "{$machine,\"programs\":[]}" 'programs: empty'
wrong nucore "{$machine,\"programs\":[{\"name\":\"a\",$quiet},{\"name\":\"a\",$quiet}]}" 'programs[1].name: programs[0] has the same'
wrong nucore "{$machine,\"programs\":[{$quiet}]}" 'programs[0].name: missing'
wrong nucore "{$machine,\"programs\":[{\"name\":\"a\"}]}" 'programs[0].local_demand: missing'
wrong numem "{$both}" 'allocation: missing'
wrong numem "{$both,\"allocation\":[1]}" 'allocation: 2 elements expected, not 1'
wrong numem "{$both,\"allocation\":[1,3]}" 'allocation[1]: 3: the node has fewer cores'
wrong numem "{$pair}],\"allocation\":[1,1]}" 'programs: one program only'

exit $failed
