#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_inside - `berthctl model` reinforce, tranquil, faithful, shuffle, prefetch, thermal and adapt: the papers' tables and figures, and what can be wrong.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"

wrong() { # MODEL INPUT TEXT
    refuses "$2" 1 "berthctl: model $1: $3" model "$1"
}

# ---- reinforce: ferret's Table 2.2 (cores used as its columns add up to, 23 and 39 threads between their neighbours) ----
ferret='{"threads":15,"cpu_util":20.2,"lock":0},{"threads":23,"cpu_util":33.2,"lock":0},{"threads":31,"cpu_util":46.1,"lock":0},
 {"threads":39,"cpu_util":58,"lock":0},{"threads":47,"cpu_util":69.9,"lock":0},{"threads":55,"cpu_util":83.4,"lock":0},
 {"threads":63,"cpu_util":94.8,"lock":0},{"threads":71,"cpu_util":91.2,"lock":16}'
search='"cores":24,"t_min":15,"t_max":127,"t_step":8'
answers "{$search,\"thresholds\":{\"cpu_util_delta\":0,\"lock\":10,\"lock_delta\":5},\"profiles\":[$ferret]}" \
    '{"threads":63,"tried":[15,23,31,39,47,55,63,71],"ended":"util"}' model reinforce
answers "{$search,\"thresholds\":{\"cpu_util_delta\":-5,\"lock\":10,\"lock_delta\":5},\"profiles\":[$ferret]}" \
    '{"threads":63,"tried":[15,23,31,39,47,55,63,71],"ended":"lock"}' model reinforce
# the table's own rows, in any order: what it does not have is between its neighbours, and named; of the Rank stage alone
printed='{"threads":71,"cpu_util":80,"lock":16},{"threads":15,"cpu_util":100,"lock":0},{"threads":31,"cpu_util":100,"lock":0},
 {"threads":47,"cpu_util":100,"lock":0},{"threads":55,"cpu_util":98,"lock":0},{"threads":63,"cpu_util":96,"lock":0}'
answers "{$search,\"thresholds\":{\"cpu_util_delta\":-3,\"lock\":10,\"lock_delta\":5},\"profiles\":[$printed]}" \
    '{"threads":63,"tried":[15,23,31,39,47,55,63,71],"ended":"util","interpolated":[23,39]}' model reinforce
answers "{$search,\"thresholds\":{\"cpu_util_delta\":-20,\"lock\":10,\"lock_delta\":5},\"profiles\":[$printed]}" \
    '{"threads":63,"tried":[15,23,31,39,47,55,63,71],"ended":"lock","interpolated":[23,39]}' model reinforce
answers '{"cores":2,"t_min":1,"t_max":2,"t_step":2,"thresholds":{"cpu_util_delta":0},"profiles":[{"threads":1,"cpu_util":1},{"threads":2,"cpu_util":2}]}' \
    '{"threads":2,"tried":[1,2],"ended":"max"}' model reinforce
wrong reinforce '{}' 'cores: missing'
wrong reinforce '{"cores":2,"t_min":3,"t_max":2,"t_step":2,"thresholds":{"cpu_util_delta":0}}' 't_max: 2: at least t_min (3) expected'
wrong reinforce '{"cores":2,"t_min":1,"t_max":2,"t_step":0,"thresholds":{"cpu_util_delta":0}}' 't_step: 0:'
wrong reinforce '{"cores":2,"t_min":1,"t_max":2,"t_step":2}' 'thresholds: missing'
wrong reinforce '{"cores":2,"t_min":1,"t_max":2,"t_step":2,"thresholds":{}}' 'thresholds.cpu_util_delta: missing'
wrong reinforce '{"cores":2,"t_min":1,"t_max":4,"t_step":2,"thresholds":{"cpu_util_delta":0},"profiles":[]}' 'profiles: empty'
wrong reinforce '{"cores":2,"t_min":1,"t_max":4,"t_step":2,"thresholds":{"cpu_util_delta":0},"profiles":[{"threads":1,"cpu_util":1}]}' 'profiles: none of 3 threads'
wrong reinforce '{"cores":2,"t_min":1,"t_max":4,"t_step":2,"thresholds":{"cpu_util_delta":0},"profiles":[{"threads":1,"cpu_util":1},{"threads":3,"cpu_util":1},{"threads":1,"cpu_util":2}]}' 'profiles: two of 1 threads'
wrong reinforce '{"cores":2,"t_min":1,"t_max":4,"t_step":2,"thresholds":{"cpu_util_delta":0},"profiles":[{"threads":1,"lock":1}]}' 'profiles[0].cpu_util: missing'

# ---- faithful: ammp's two phases ----
answers '{"lock":0.84}' '{"scaling":0.16000000000000003,"quantum_ms":200}' model faithful
answers '{"miss_ratio":0.1,"lock":0.12}' '{"scaling":0.88,"quantum_ms":20}' model faithful
answers '{"samples":[{"lock":0.84},{"lock":0.8},{"lock":0.12},{"lock":0.02},{"miss_ratio":0.5,"lock":0.1},{}]}' \
    '{"changes":[{"sample":0,"scaling":0.16000000000000003,"quantum_ms":200},{"sample":2,"scaling":0.88,"quantum_ms":20},{"sample":4,"scaling":0.5,"quantum_ms":100}]}' model faithful
wrong faithful '{"lock":84}' 'lock: 84: between 0 and 1'
wrong faithful '{"samples":[]}' 'samples: empty'
wrong faithful '{"samples":[{},{"lock":"much"}]}' 'samples[1].lock: number expected'

# ---- tranquil ----
high='[7000,7000,8000,9000,9000]' low='[4900,4900,5000,5100,5100]'
answers "{\"bursts\":[{\"miss\":$high},{\"miss\":$low},{\"miss\":$low}]}" \
    '{"after":[{"next":"trial","pass":1,"memory":"interleave","class":"batch","slice_ms":100},{"next":"profile","pass":1,"memory":"interleave","class":"batch","slice_ms":100,"kept":true,"miss":[8000.0,1000.0,5000.0,100.0],"icx":[null,null,null,null]},{"next":"profile","pass":2,"memory":"interleave","class":"batch","slice_ms":100,"kept":true,"miss":[8000.0,1000.0,5000.0,100.0],"icx":[null,null,null,null]}]}' model tranquil
run "{\"bursts\":[{\"miss\":$high},{\"miss\":$high}]}" model tranquil
grep -qF '"memory":"local","class":"batch","slice_ms":100,"kept":false' "$dir/out" || bad 'model tranquil' 'back to local memory' "$(cat "$dir/out")"
run "{\"thresholds\":{\"miss_pmi\":20000},\"bursts\":[{\"miss\":$high,\"icx\":$high},{\"miss\":$high,\"icx\":$high}]}" model tranquil
grep -qF '"memory":"local","class":"default","slice_ms":null,"kept":false' "$dir/out" || bad 'model tranquil' 'back to the default class' "$(cat "$dir/out")"
# the same numbers but one: lower in both, by chance
run '{"rule":"printed","bursts":[{"icx":[5,6,7,8,9]},{"icx":[5,6,7,8,8.9]}]}' model tranquil
grep -qF '"slice_ms":20,"kept":true' "$dir/out" || bad 'model tranquil' 'kept by the printed rule' "$(cat "$dir/out")"
run '{"bursts":[{"icx":[5,6,7,8,9]},{"icx":[5,6,7,8,8.9]}]}' model tranquil
grep -qF '"kept":false' "$dir/out" || bad 'model tranquil' 'not kept by ours' "$(cat "$dir/out")"
wrong tranquil '{}' 'bursts: missing'
wrong tranquil '{"bursts":[{}]}' 'bursts[0].miss: missing, and icx, too'
wrong tranquil '{"bursts":[{"icx":[1]},{"icx":[1,-1]}]}' 'bursts[1].icx[1]: -1'
wrong tranquil '{"bursts":[{"icx":[1,2,3,4,5,6,7,8,9,10,11]}]}' 'bursts[0].icx: at most 10 readings expected, not 11'
wrong tranquil '{"rule":"paper","bursts":[{"icx":[1]}]}' "rule: 'paper' is none of"
wrong tranquil '{"thresholds":{"miss_pmi":-1},"bursts":[{"icx":[1]}]}' 'thresholds.miss_pmi: -1'

# ---- shuffle: two teams over two packages, a bound thread, a third package far away ----
team='{"tid":1,"lock":0.1,"at":0},{"tid":2,"lock":0.4,"at":0},{"tid":3,"lock":0.1,"at":1},{"tid":4,"lock":0.4,"at":1}'
answers "{\"threads\":[$team],\"packages\":[{\"cores\":2},{\"cores\":2}]}" \
    '{"to":{"1":0,"2":1,"3":0,"4":1},"moves":2,"order":[0,1],"lock":0.25,"due":true}' model shuffle
answers '{"threads":[{"tid":7,"lock":0.9,"at":1,"bound":true},{"tid":8,"lock":0.01}],"packages":[{"cores":1},{"cores":1},{"cores":1}],"distance":[[10,20,40],[20,10,20],[40,20,10]]}' \
    '{"to":{"7":1,"8":0},"moves":1,"order":[0,1,2],"lock":0.45500000000000002,"due":true}' model shuffle
wrong shuffle '{}' 'packages: missing'
wrong shuffle '{"packages":[{"cores":0}]}' 'packages[0].cores: 0'
wrong shuffle '{"packages":[{"cores":1}]}' 'threads: missing'
wrong shuffle '{"packages":[{"cores":1}],"threads":[{"tid":1},{"tid":1}]}' 'threads[1].tid: 1 is there twice'
wrong shuffle '{"packages":[{"cores":1}],"threads":[{"tid":1,"lock":2}]}' 'threads[0].lock: 2: between 0 and 1'
wrong shuffle '{"packages":[{"cores":1},{"cores":1}],"threads":[{"tid":1}],"distance":[[1,2],[3,1]]}' 'distance[1][0]: 3: as far as the way back (2)'
wrong shuffle '{"packages":[{"cores":1},{"cores":1}],"threads":[{"tid":1}],"distance":[[1,2]]}' 'distance'

# ---- prefetch: both outcomes, the edge of 2 %, energy, a phase too soon and in time, and nothing known ----
answers '{"turns":[{"phase":1,"on_ips":1.02,"off_ips":1},{"phase":2,"on_ips":2,"off_ips":1},{"at":62,"phase":2,"on_ips":1.03,"off_ips":1}]}' \
    '{"after":[{"tested":true,"state":"off","by":"ips","ratio":1.02},{"tested":false,"state":"off","by":"ips","ratio":1.02},{"tested":true,"state":"on","by":"ips","ratio":1.03}]}' model prefetch
answers '{"turns":[{"on_ips":2,"off_ips":1,"on_ipj":1,"off_ipj":2}]}' '{"after":[{"tested":true,"state":"off","by":"ipj","ratio":0.5}]}' model prefetch
answers '{"turns":[{"on_ips":2},{"on_ips":2,"off_ips":1},{"at":70,"on_ips":2,"off_ips":1}]}' \
    '{"after":[{"tested":true,"state":"waiting","by":null,"ratio":null},{"tested":false,"state":"waiting","by":null,"ratio":null},{"tested":true,"state":"on","by":"ips","ratio":2.0}]}' model prefetch
wrong prefetch '{}' 'turns: missing'
wrong prefetch '{"turns":[{"on_ips":-1}]}' 'turns[0].on_ips: -1'
wrong prefetch '{"turns":[{"at":5},{"at":5}]}' 'turns[1].at: 5: later than the turn before (5) expected'

# ---- thermal: over T1, over T2 and not back, an exchange of alike ones only, all hot ----
answers '{"t1":82,"t2":100,"on":[0,null,null],"looks":[[97,40,30],[30,40,100],[30,90,20]]}' \
    '{"looks":[{"moves":[{"program":0,"core":0,"limit":"t1","moved_to":2,"exchanged":null}],"on":[null,null,0]},{"moves":[{"program":0,"core":2,"limit":"t2","moved_to":0,"exchanged":null}],"on":[0,null,null]},{"moves":[],"on":[0,null,null]}]}' model thermal
answers '{"t1":82,"t2":100,"on":[0,1,2],"kinds":[0,1,0],"looks":[[90,30,40],[101,101,101]]}' \
    '{"looks":[{"moves":[{"program":0,"core":0,"limit":"t1","moved_to":2,"exchanged":2}],"on":[2,1,0]},{"moves":[{"program":2,"core":0,"limit":"t2","moved_to":null,"exchanged":null},{"program":1,"core":1,"limit":"t2","moved_to":null,"exchanged":null},{"program":0,"core":2,"limit":"t2","moved_to":null,"exchanged":null}],"on":[2,1,0]}]}' model thermal
wrong thermal '{}' 'on: missing'
wrong thermal '{"on":[]}' 'on: 1 to 1024 cores'
wrong thermal '{"on":[0],"kinds":[0,0]}' 'kinds: one for each of 1 programs'
wrong thermal '{"on":[0],"looks":[[1,2]]}' 'looks[0]: the degrees of 1 cores expected'

# ---- adapt: Table 6.6, and apsi beside fma3d ----
# lock times as eq. 6.3 gives them back, the rest of eq. 6.1 in the partners' latencies
run '{"cores":64,"programs":[{"name":"FA","threads":49,"lock":2.1,"lat":34.25,"sys":0,"mpa":0},{"name":"SM","threads":32,"lock":4.6,"lat":28.875,"sys":0,"mpa":0}],"configurations":[[64,64],[40,24]],"present":1}' model adapt
grep -qF '"choice":0,"changed":true' "$dir/out" || bad 'model adapt' 'all cores for FA and SM' "$(cat "$dir/out")"
[ ! -s "$dir/err" ] || bad 'model adapt' 'nothing on stderr' "$(cat "$dir/err")"
grep -q '"predicted":.*44\.5.*41\.5' "$dir/out" || bad 'model adapt' '44.5 and 41.6 in sets' "$(cat "$dir/out")"
apsi='{"threads":16,"lock":40,"lat":5,"sys":0.5,"mpa":0.2}'
fma='{"threads":56,"lock":70,"lat":25,"sys":1,"mpa":0.2}' later='{"threads":56,"lock":5,"lat":2,"sys":1,"mpa":0.2}'
sets='{"usr":[39,26],"used":[60,58]}' all='{"usr":[41,77]}'
phase="{\"usr\":[39,45],\"used\":[60,58],\"programs\":[$apsi,$later]}"
run "{\"cores\":64,\"programs\":[$apsi,$fma],\"history\":[$sets,$sets,$sets,$sets,$sets,$sets,$phase,$phase,$all,$all,$all,$all,$all]}" model adapt
grep -qF '"changes":[{"interval":7,"from":4,"to":0,"why":"promised"}]' "$dir/out" || bad 'model adapt' 'one change' "$(cat "$dir/out")"
grep -qF '"choice":0,"changed":true,"why":"promised",' "$dir/out" || bad 'model adapt' 'why it changed' "$(cat "$dir/out")"
run "{\"cores\":64,\"programs\":[$apsi,$fma],\"limits\":{\"mpa\":0.3,\"lock\":5}}" model adapt
grep -qF '"choice":4,"changed":false,"why":null,"policies":[{"memory":"interleave","class":"faithful"}' "$dir/out" || bad 'model adapt' '16 and 48 cores' "$(cat "$dir/out")"
# a light newcomer gets all cores whatever is predicted, and nobody is left with the default class beside one that is not light
run "{\"cores\":64,\"programs\":[$apsi,$later],\"limits\":{\"mpa\":0.3,\"lock\":5},\"newcomer\":1,\"configurations\":[[16,48],[64,64]],\"coefficients\":{\"paap\":[0,0,0,0,0,0],\"pacc\":[9,0,0]}}" model adapt
grep -qF '"choice":1,"changed":false,"why":null,"policies":[{"memory":"interleave","class":"faithful"},{"memory":"local","class":"faithful"}]' "$dir/out" ||
    bad 'model adapt' 'all cores for a light newcomer, one class' "$(cat "$dir/out" "$dir/err")"
wrong adapt "{\"cores\":4,\"programs\":[$apsi],\"newcomer\":0}" 'limits: missing, by which a newcomer is light'
wrong adapt "{\"cores\":4,\"programs\":[$apsi],\"limits\":{\"mpa\":0.3,\"lock\":5},\"newcomer\":1}" 'newcomer: 1: there are programs 0 to 0 only'
own='"coefficients":{"paap":[0,0,0,0,0,1],"pacc":[7,0,0],"source":"here"}'
answers "{\"cores\":64,\"programs\":[$apsi,$fma],\"configurations\":[[64,64],[32,32]],$own}" \
    '{"configurations":[[64,64],[32,32]],"predicted":[[1.1428571428571428,4.0],[7.0,7.0]],"choice":1,"changed":false,"why":null}' model adapt
answers "{\"cores\":64,\"programs\":[$apsi,$fma],\"configurations\":[[64,64],[32,32]],$own,\"present\":0,\"history\":[]}" \
    '{"configurations":[[64,64],[32,32]],"predicted":[[1.1428571428571428,4.0],[7.0,7.0]],"choice":1,"changed":true,"why":null}' model adapt
wrong adapt "{\"cores\":4,\"programs\":[$apsi],\"history\":{}}" 'history: array expected'
wrong adapt '{}' 'cores: missing'
wrong adapt '{"cores":4}' 'programs: missing'
wrong adapt '{"cores":4,"programs":[{"threads":0}]}' 'programs[0].threads: 0'
wrong adapt '{"cores":4,"programs":[{"threads":1,"sys":0,"lat":0,"lock":101,"mpa":0}]}' 'programs[0].lock: 101: between 0 and 100'
wrong adapt "{\"cores\":4,\"programs\":[$apsi],\"configurations\":[[5]]}" 'configurations[0][0]: 5'
wrong adapt "{\"cores\":4,\"programs\":[$apsi],\"present\":1}" 'present: 1: there are configurations 0 to 0 only'
wrong adapt "{\"cores\":4,\"programs\":[$apsi],\"history\":[{\"usr\":[1,2]}]}" 'history[0].usr'
wrong adapt "{\"cores\":4,\"programs\":[$apsi],\"history\":[{\"programs\":[$apsi,$fma]}]}" 'history[0].programs: 1 expected, not 2'
wrong adapt "{\"cores\":4,\"programs\":[$apsi],\"coefficients\":{\"paap\":[1]}}" 'coefficients.paap'

# ---- opticore: two phases of 60 s, twice: each profiled once, the first after five windows, and known again ----
phase() { # SECONDS MISSES
    for _ in $(seq "$1"); do printf '{"seconds":1,"instructions":2e9,"misses":%s,"bytes":null},' "$2"; done
}
run "{\"rules\":{\"cost\":0.02},\"windows\":[$({ phase 60 4e7; phase 60 4e5; phase 60 4e7; phase 60 4e5; } | sed 's/,$//')]}" model opticore
grep -q '^{"profiles":2,"profiled_s":1\.0,"phases":2,' "$dir/out" || bad 'model opticore' 'two profiles' "$(head -c 300 "$dir/out")"
[ "$(tr '}' '\n' <"$dir/out" | grep -n '"profiled":true' | cut -d: -f1 | head -n 1)" = 5 ] || bad 'model opticore' 'the first after five windows' "$(head -c 900 "$dir/out")"
tr '}' '\n' <"$dir/out" | sed -n '240p' | grep -q '"state":"watching","phase":2,"profiled":false' || bad 'model opticore' 'known again' "$(tail -c 300 "$dir/out")"
# two regions of the same rates are two phases (Wang 2015, section 8.2); a known one is told by its first window
phase() { # WINDOWS REGION
    for _ in $(seq "$1"); do printf '{"seconds":1,"instructions":2e9,"misses":4e7,"bytes":4e9,"region":%d},' "$2"; done
}
run "{\"rules\":{\"cost\":0.02},\"windows\":[$({ phase 60 1; phase 60 2; phase 60 1; phase 60 2; } | sed 's/,$//')]}" model opticore
grep -q '^{"profiles":2,"profiled_s":1\.0,"phases":2,' "$dir/out" || bad 'model opticore' 'two profiles by region' "$(head -c 300 "$dir/out")"
tr '}' '\n' <"$dir/out" | sed -n '121p' | grep -q '"phase":1,"profiled":false' || bad 'model opticore' 'known at once' "$(tr '}' '\n' <"$dir/out" | sed -n '119,123p')"
wrong opticore '{}' 'windows: missing'
wrong opticore '{"windows":[{"seconds":0}]}' 'windows[0].seconds: 0:'
wrong opticore '{"rules":{"cost":2},"windows":[]}' 'rules.cost: 2:'

exit $failed
