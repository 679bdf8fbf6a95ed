#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_ctl_model - `berthctl model`: what goes in, what comes out, and each thing that can be wrong with it.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"

# ---- di: Blagodurov's Algorithms 1 and 2 on two packages of two caches of two cores
eight='{"arity":[2,2,2],"threads":[
    {"name":"a","miss_pmi":800},{"name":"b","miss_pmi":700},{"name":"c","miss_pmi":600.5},{"name":"d","miss_pmi":500},
    {"name":"e","miss_pmi":400},{"name":"f","miss_pmi":300},{"name":"g","miss_pmi":200},{"name":"h","miss_pmi":0}]}'
placed='{"cores":{"a":0,"b":4,"c":6,"d":2,"e":3,"f":7,"g":5,"h":1}}'
answers "$eight" "$placed" model di
answers "$eight" "$placed" model di -
answers "$eight" "$placed" model --json di
printf '%s' "$eight" >"$dir/file"
answers '' "$placed" model di "$dir/file"
# equal rates keep the input's order, names need not be sorted, unknown fields are ignored
answers '{"arity":[1,2,1],"note":1,"threads":[{"name":"z","miss_pmi":1,"_ipc":2},{"name":"y","miss_pmi":1}]}' \
    '{"cores":{"z":0,"y":1}}' model di
# a field that nobody reads changes nothing, and is told with what may be meant
typo='{"arity":[1,1,1],"threads":[{"name":"a","miss_pmi":1,"mis_pmi":2}],"colour":"red"}'
run "$typo" model di
[ "$(cat "$dir/out")" = '{"cores":{"a":0}}' ] || bad "model di <<< $typo" '{"cores":{"a":0}}' "$(cat "$dir/out")"
[ "$(cat "$dir/err")" = 'berthctl: stdin: threads[0].mis_pmi: nothing reads it (miss_pmi?)
berthctl: stdin: colour: nothing reads it' ] || bad "model di <<< $typo" "two lines" "$(cat "$dir/err")"
# more threads than cores
answers '{"arity":[1,1,2],"threads":[{"name":"a","miss_pmi":3},{"name":"b","miss_pmi":2},{"name":"c","miss_pmi":1}]}' \
    '{"cores":{"a":0,"b":1,"c":1}}' model di

wrong() { # INPUT TEXT
    refuses "$1" 1 "berthctl: model di: $2" model di
}
thread='"threads":[{"name":"a","miss_pmi":1}]'
wrong '{}' 'arity: missing'
wrong "{\"arity\":null,$thread}" 'arity: missing'
wrong "{\"arity\":\"2x2x2\",$thread}" 'arity: array expected'
wrong "{\"arity\":[],$thread}" 'arity: three numbers expected'
wrong "{\"arity\":[2,2],$thread}" 'arity: three numbers expected'
wrong "{\"arity\":[2,2,2,2],$thread}" 'arity: three numbers expected'
wrong "{\"arity\":[2,0,2],$thread}" 'arity[1]: 0: between 1 and 1048576 expected'
wrong "{\"arity\":[2,2,-2],$thread}" 'arity[2]: -2: between 1 and'
wrong "{\"arity\":[2,2,1.5],$thread}" 'arity[2]: int expected'
wrong "{\"arity\":[4096,4096,1],$thread}" 'arity: more than 1048576 cores'
wrong "{\"arity\":[9223372036854775807,9223372036854775807,4],$thread}" 'arity[0]: 9.22337203685e+18: between 1 and'
wrong '{"arity":[1,1,1]}' 'threads: missing'
wrong '{"arity":[1,1,1],"threads":{}}' 'threads: array expected'
wrong '{"arity":[1,1,1],"threads":[]}' 'threads: empty'
wrong '{"arity":[1,1,1],"threads":[7]}' 'threads[0]: object expected'

wrong_second() { # THREAD TEXT
    wrong "{\"arity\":[1,1,2],\"threads\":[{\"name\":\"a\",\"miss_pmi\":1},$1]}" "threads[1].$2"
}
wrong_second '{"miss_pmi":1}' 'name: missing'
wrong_second '{"name":7,"miss_pmi":1}' 'name: string expected'
wrong_second '{"name":"","miss_pmi":1}' 'name: 1 to 255 bytes expected'
wrong_second '{"name":"a","miss_pmi":1}' 'name: "a" is there twice'
wrong_second '{"name":"b"}' 'miss_pmi: missing'
wrong_second '{"name":"b","miss_pmi":"1"}' 'miss_pmi: number expected'
wrong_second '{"name":"b","miss_pmi":-0.5}' 'miss_pmi: -0.5: 0 or more expected'
wrong_second '{"name":"b","miss_pmi":NaN}' 'miss_pmi: not a finite number'
wrong_second '{"name":"b","miss_pmi":1e999}' 'miss_pmi: not a finite number'
# what is shown of a name cannot make a second line
wrong '{"arity":[1,1,2],"threads":[{"name":"a\nb","miss_pmi":1},{"name":"a\nb","miss_pmi":1}]}' 'threads[1].name: "a\nb" is there twice'

# ---- dio-power: as few caches as keep devils apart
four='{"arity":[2,2,2],"threads":[{"name":"a","miss_pmi":9000},{"name":"b","miss_pmi":10},{"name":"c","miss_pmi":2000},
    {"name":"d","miss_pmi":20}]'
answers "$four}" '{"cores":{"a":0,"b":1,"c":2,"d":3}}' model dio-power
answers "$four,\"thresholds\":{\"devil_miss_pmi\":10}}" '{"cores":{"a":0,"b":2,"c":4,"d":6}}' model dio-power
answers "$four,\"thresholds\":{}}" '{"cores":{"a":0,"b":1,"c":2,"d":3}}' model dio-power

# ---- isolate: the chosen devil has a package without the others, or at least a cache
lamp() { # FIELDS-OF-THE-FIRST
    echo "{\"arity\":[2,2,2],\"threads\":[{\"name\":\"a\",\"miss_pmi\":9000$1},{\"name\":\"b\",\"miss_pmi\":8000},
        {\"name\":\"c\",\"miss_pmi\":7000},{\"name\":\"d\",\"miss_pmi\":10}]"
}
answers "$(lamp ',"prioritised":true')}" '{"cores":{"a":0,"b":4,"c":6,"d":2},"isolated":["a"],"domain":"package"}' model isolate
answers "$(lamp ',"prioritised":true'),\"domain\":\"cache\"}" \
    '{"cores":{"a":0,"b":4,"c":6,"d":2},"isolated":["a"],"domain":"cache"}' model isolate
answers "$(lamp ',"prioritised":true,"sensitive":false')}" \
    '{"cores":{"a":0,"b":4,"c":6,"d":2},"isolated":[],"domain":null}' model isolate
answers "$(lamp '')}" '{"cores":{"a":0,"b":4,"c":6,"d":2},"isolated":[],"domain":null}' model isolate
# five other devils: no package is free of them, a cache is
answers '{"arity":[2,2,2],"threads":[{"name":"p","miss_pmi":5000,"prioritised":true},{"name":"1","miss_pmi":9000},
    {"name":"2","miss_pmi":9000},{"name":"3","miss_pmi":9000},{"name":"4","miss_pmi":9000},{"name":"5","miss_pmi":9000}]}' \
    '{"cores":{"p":0,"1":4,"2":6,"3":2,"4":3,"5":7},"isolated":["p"],"domain":"cache"}' model isolate

# ---- pair scores
apps='{"apps":[{"name":"a","llc_mpki":3,"sdp":{"hits":[10,8,2,1],"misses":2000}},{"name":"b","sdp":{"hits":[9,3,1,0],"misses":7}}]'
answers "$apps}" '{"pairs":[{"a":"a","b":"a","score":18000000,"a_given_b":9000000,"b_given_a":9000000},{"a":"a","b":"b","score":42000,"a_given_b":21000,"b_given_a":21000},{"a":"b","b":"b","score":98,"a_given_b":49,"b_given_a":49}]}' model missrate
# S: 36/5 and 18/5; Z: 2021 and 20
answers "$apps}" '{"pairs":[{"a":"a","b":"a","score":29102.4,"a_given_b":14551.2,"b_given_a":14551.2},{"a":"a","b":"b","score":7419.6,"a_given_b":144,"b_given_a":7275.6},{"a":"b","b":"b","score":144,"a_given_b":72,"b_given_a":72}]}' model pain
answers "$apps}" '{"pairs":[{"a":"a","b":"a","score":6,"a_given_b":3,"b_given_a":3},{"a":"a","b":"b","score":4,"a_given_b":3,"b_given_a":1},{"a":"b","b":"b","score":2,"a_given_b":1,"b_given_a":1}]}' model sdc
answers "$apps,\"machine\":{\"llc_ways\":8}}" '{"pairs":[{"a":"a","b":"a","score":0,"a_given_b":0,"b_given_a":0},{"a":"a","b":"b","score":0,"a_given_b":0,"b_given_a":0},{"a":"b","b":"b","score":0,"a_given_b":0,"b_given_a":0}]}' model sdc
answers "$apps}" '{"pairs":[{"a":"a","b":"a","score":8,"a_given_b":4,"b_given_a":4},{"a":"a","b":"b","score":2,"a_given_b":1,"b_given_a":1},{"a":"b","b":"b","score":0,"a_given_b":0,"b_given_a":0}],"classes":{"a":"devil","b":"turtle"}}' model animal
answers "$apps,\"thresholds\":{\"devil_miss_pmi\":2001,\"turtle_access_pmi\":20,\"rabbit_loss_pmi\":1.5}}" '{"pairs":[{"a":"a","b":"a","score":5,"a_given_b":2.5,"b_given_a":2.5},{"a":"a","b":"b","score":3,"a_given_b":1.5,"b_given_a":1.5},{"a":"b","b":"b","score":2,"a_given_b":1,"b_given_a":1}],"classes":{"a":"rabbit","b":"sheep"}}' model animal
# one app, no access at all, profiles of different caches
idle='{"apps":[{"name":"i","sdp":{"hits":[0],"misses":0}}]}'
for model in missrate pain sdc; do
    answers "$idle" '{"pairs":[{"a":"i","b":"i","score":0,"a_given_b":0,"b_given_a":0}]}' model $model
done
answers '{"apps":[{"name":"a","sdp":{"hits":[10,8],"misses":0}},{"name":"b","sdp":{"hits":[9,3,1,1],"misses":0}}]}' \
    '{"pairs":[{"a":"a","b":"a","score":0,"a_given_b":0,"b_given_a":0},{"a":"a","b":"b","score":2,"a_given_b":0,"b_given_a":2},{"a":"b","b":"b","score":4,"a_given_b":2,"b_given_a":2}]}' model sdc

refused() { # MODEL INPUT TEXT
    refuses "$2" 1 "berthctl: model $1: $3" model "$1"
}
bare='{"apps":[{"name":"a","sdp":{"hits":[1],"misses":1}},{"name":"b","ipc":1}]}'
for model in pain sdc animal; do
    refused $model "$bare" 'apps[1].sdp: missing, b has no stack-distance profile'
    refused $model '{"apps":[{"name":"a","sdp":{"hits":[1,-1],"misses":1}}]}' 'apps[0].sdp.hits[1]: -1: between 0 and 1e+12 expected'
    refused $model '{"apps":[]}' 'apps: empty'
done
refused missrate "$bare" 'apps[1].llc_mpki: missing, and b has no sdp'
refused missrate '{}' 'apps: missing'
refused pain '{"apps":[{"name":"a"}],"machine":{"llc_ways":65}}' 'machine.llc_ways: 65: between 1 and 64'
refused animal "$apps,\"thresholds\":{\"rabbit_loss_pmi\":-1}}" 'thresholds.rabbit_loss_pmi: -1: 0 or more expected'
refused animal "$apps,\"thresholds\":{\"turtle_access_pmi\":\"x\"}}" 'thresholds.turtle_access_pmi: number expected'
refused animal "$apps,\"thresholds\":7}" 'thresholds: object expected'
refused dio-power "$four,\"thresholds\":{\"devil_miss_pmi\":NaN}}" 'thresholds.devil_miss_pmi: not a finite number'
refused dio-power '{"arity":[1,1,1],"threads":[]}' 'threads: empty'
refused isolate "$(lamp ',"prioritised":1')}" 'threads[0].prioritised: boolean expected'
refused isolate "$(lamp ',"sensitive":"yes"')}" 'threads[0].sensitive: boolean expected'
refused isolate "$four,\"domain\":\"core\"}" "domain: 'core' is none of: package, cache"

# Table V: LAMP workload 2 as printed, and what slowdown clustering may cost with its watts
lamp2='{"arity":[2,2,2],"threads":[{"name":"Apache0","miss_pmi":9000},{"name":"Apache1","miss_pmi":8000},{"name":"Mysql0","miss_pmi":20},{"name":"Mysql1","miss_pmi":10}]'
answers "$lamp2}" '{"cores":{"Apache0":0,"Apache1":2,"Mysql0":3,"Mysql1":1}}' model dio-power
answers "$lamp2,\"order\":\"printed\"}" '{"cores":{"Apache0":0,"Apache1":2,"Mysql0":1,"Mysql1":3}}' model dio-power
even() { # WATTS PERCENT
    "$berthctl" model dio-power >"$dir/out" 2>"$dir/err" <<END
$lamp2,"power":$1}
END
    got=$(sed -n 's/.*"break_even": *\([0-9.e-]*\).*/\1/p' "$dir/out" | awk '{ printf "%.1f", 100 * $1 }')
    [ "$got" = "$2" ] || bad "dio-power with $1" "break_even $2 %" "$got $(cat "$dir/err")"
}
even '{"spread_w":94,"cluster_w":76}' 11.2
even '{"spread_w":171,"cluster_w":90}' 37.8
even '{"spread_w":154,"cluster_w":104}' 21.7
even '{"spread_w":154,"cluster_w":104,"idle_w":200}' 7.9
refused dio-power "$lamp2,\"order\":\"random\"}" "order: 'random' is none of: balanced, printed"
refused dio-power "$lamp2,\"power\":{\"spread_w\":1}}" 'power.cluster_w: missing'

# ---- edp
answers '{"energy_j":16,"seconds":2,"instructions":64}' '{"edp":32.0,"edp_paper":0.5}' model edp
answers '{"energy_j":16,"seconds":2,"instructions":64,"idle_w":4}' '{"edp":32.0,"edp_paper":0.5,"edp_above_idle":16.0,"edp_paper_above_idle":0.25}' model edp
refused edp '{"energy_j":16,"seconds":2,"instructions":64,"idle_w":9}' 'idle_w: 9: a run of 2 s with 16 J drew less'
answers '{"energy_j":0,"seconds":10,"instructions":1}' '{"edp":0.0,"edp_paper":0.0}' model edp
refused edp '{"energy_j":150,"seconds":10}' 'instructions: missing'
refused edp '{"energy_j":150,"seconds":-1,"instructions":1}' 'seconds: -1: between 0 and 1e+24 expected'
refused edp '{"energy_j":1e25,"seconds":1,"instructions":1}' 'energy_j: 1e+25: between 0 and 1e+24 expected'
refused edp '{"energy_j":1,"seconds":1,"instructions":0}' 'instructions: 0: between 1 and 1e+24 expected'

# ---- the verb
refuses '' 1 'berthctl: stdin: not JSON' model di
refuses '[]' 1 'berthctl: stdin: a JSON object expected' model di
refuses "$eight x" 1 'berthctl: stdin: not JSON at byte' model di
refuses '' 1 "berthctl: $dir/none: No such file" model di "$dir/none"
refuses '' 1 "berthctl: $dir: Is a directory" model di "$dir"
refuses '' 2 'no model named; one of: di' model
refuses '' 2 'nosuch: no such model; one of: di' model nosuch
refuses '' 2 'takes NAME and one FILE only: extra' model di - extra
refuses '' 2 '--nosuch: no such option' model --nosuch
says 'usage: berthctl model' model --help
says 'Distributed Intensity' model --help
says '      in   {"energy_j"' model --help
says 'usage: berthctl model edp [FILE]' model edp --help
grep -q 'Distributed Intensity' "$dir/out" && bad 'model edp --help' 'edp alone' "$(cat "$dir/out")"
refuses '' 2 'nonesuch: no such model' model nonesuch --help

exit $failed
