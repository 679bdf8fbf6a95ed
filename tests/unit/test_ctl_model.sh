#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_ctl_model - `berthctl model`: what goes in, what comes out, and each thing that can be wrong with it.
. "${srcdir:-.}/tests/unit/ctl_check.sh"

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
answers '{"arity":[1,2,1],"note":1,"threads":[{"name":"z","miss_pmi":1,"ipc":2},{"name":"y","miss_pmi":1}]}' \
    '{"cores":{"z":0,"y":1}}' model di
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
wrong "{\"arity\":[],$thread}" 'arity: empty'
wrong "{\"arity\":[2,2],$thread}" 'arity: three numbers expected'
wrong "{\"arity\":[2,2,2,2],$thread}" 'arity: three numbers expected'
wrong "{\"arity\":[2,0,2],$thread}" 'arity[1]: at least 1'
wrong "{\"arity\":[2,2,-2],$thread}" 'arity[2]: at least 1'
wrong "{\"arity\":[2,2,1.5],$thread}" 'arity[2]: int expected'
wrong "{\"arity\":[4096,4096,1],$thread}" 'arity: more than 1048576 cores'
wrong "{\"arity\":[9223372036854775807,9223372036854775807,4],$thread}" 'arity: more than'
wrong '{"arity":[1,1,1]}' 'threads: missing'
wrong '{"arity":[1,1,1],"threads":{}}' 'threads: array expected'
wrong '{"arity":[1,1,1],"threads":[]}' 'threads: empty'
wrong '{"arity":[1,1,1],"threads":[7]}' 'threads[0]: object expected'

wrong_second() { # THREAD TEXT
    wrong "{\"arity\":[1,1,2],\"threads\":[{\"name\":\"a\",\"miss_pmi\":1},$1]}" "threads[1].$2"
}
wrong_second '{"miss_pmi":1}' 'name: missing'
wrong_second '{"name":7,"miss_pmi":1}' 'name: string expected'
wrong_second '{"name":"","miss_pmi":1}' 'name: empty'
wrong_second '{"name":"a","miss_pmi":1}' 'name: "a" is there twice'
wrong_second '{"name":"b"}' 'miss_pmi: missing'
wrong_second '{"name":"b","miss_pmi":"1"}' 'miss_pmi: number expected'
wrong_second '{"name":"b","miss_pmi":-0.5}' 'miss_pmi: negative'
wrong_second '{"name":"b","miss_pmi":NaN}' 'miss_pmi: not a finite number'
wrong_second '{"name":"b","miss_pmi":1e999}' 'miss_pmi: not a finite number'
# what is shown of a name cannot make a second line
wrong '{"arity":[1,1,2],"threads":[{"name":"a\nb","miss_pmi":1},{"name":"a\nb","miss_pmi":1}]}' 'threads[1].name: "a\nb" is there twice'

# ---- the verb
refuses '' 1 'berthctl: stdin: not JSON' model di
refuses '[]' 1 'berthctl: stdin: a JSON object expected' model di
refuses "$eight x" 1 'berthctl: stdin: not JSON at byte' model di
refuses '' 1 "berthctl: $dir/none: No such file" model di "$dir/none"
refuses '' 1 "berthctl: $dir: Is a directory" model di "$dir"
refuses '' 2 'no model named; one of: di' model
refuses '' 2 'nosuch: no such model; one of: di' model nosuch
refuses '' 2 'extra: one FILE only' model di - extra
refuses '' 2 '--nosuch: no such option' model --nosuch
says 'usage: berthctl model' model --help
says 'Distributed Intensity' model --help

exit $failed
