#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_ctl_model_dramon - `berthctl model dramon`: the machine of Wang 2015, Table 4.1, and each thing that can be wrong with the input.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"

amd='"channels":2,"banks":8,"tRCD_ns":13.5,"tCAS_ns":13.5,"tRP_ns":13.5,"tBurst_ns":6,"tWR_ns":15,"tRTRS_ns":4.5,"tWTR_ns":7.5,"tCK_ns":1.5,"request_bytes":64,"auto_close":4'
ratios='"hit":0.8,"miss":0.1,"conflict":0.1'
rest='"read_ratio":1,"wtr":0,"rtr":0,"ranks":1'
brd='"brd":{"1":0.875,"8":0.125}'

# curve INPUT CORES FIELD WANTED: that field for that many cores, to 1e-9
curve() {
    run "$1" model dramon
    [ $status -eq 0 ] || bad "model dramon <<< $1" 'status 0' "$status: $(cat "$dir/err")"
    got=$(sed "s/.*{\"cores\":$2,\([^}]*\)}.*/\1/; s/.*\"$3\":\([-0-9.e+]*\).*/\1/" "$dir/out")
    awk -v got="$got" -v wanted="$4" 'BEGIN { d = got - wanted; exit !(d * d <= 1e-18 * (1 + wanted * wanted)) }' ||
        bad "model dramon: $3 of $2 cores <<< $1" "$4" "$got"
}
good="{\"hardware\":{$amd},\"software\":{\"issue_rate_single\":30e6,$ratios,$brd,$rest},\"cores\":6}"
curve "$good" 1 gbps 3.84
curve "$good" 1 latency_ns 9.15
curve "$good" 2 hit 0.75
curve "$good" 2 miss 0.15625
curve "$good" 2 conflict 0.09375
[ "$(grep -o '"cores"' "$dir/out" | wc -l)" -eq 6 ] || bad 'model dramon' '6 points' "$(cat "$dir/out")"
# the distances of a run-time profile need not be given; a trace may say where co-runners' requests go
curve "{\"hardware\":{$amd},\"software\":{\"issue_rate_single\":30e6,$ratios,$rest},\"cores\":2}" 2 hit 0.75
curve "{\"hardware\":{$amd},\"software\":{\"issue_rate_single\":30e6,$ratios,$rest,\"same_row\":0.25,\"same_bank\":0.05,\"other_channel\":0.4},\"cores\":2}" 2 hit \
    "$(awk 'BEGIN { printf "%.17g", 7 / 8 * (0.25 + 0.8 * 0.75) + 1 / 8 * (0.25 + 0.8 * 0.4) }')"

wrong() { # HARDWARE SOFTWARE CORES TEXT
    refuses "{\"hardware\":{$1},\"software\":{$2},\"cores\":$3}" 1 "berthctl: model dramon: $4" model dramon
}
sw="\"issue_rate_single\":30e6,$ratios,$rest"
refuses '{}' 1 'berthctl: model dramon: hardware: missing' model dramon
refuses "{\"hardware\":{$amd}}" 1 'software: missing' model dramon
refuses "{\"hardware\":{$amd},\"software\":[],\"cores\":1}" 1 'software: object expected' model dramon
refuses "{\"hardware\":{$amd},\"software\":{$sw}}" 1 'cores: missing' model dramon
wrong "$amd,\"channels\":0" "$sw" 1 'hardware.channels: 0: between 1 and'
wrong "$amd,\"channels\":1.5" "$sw" 1 'hardware.channels: 1.5: a whole number'
wrong "$amd,\"banks\":\"8\"" "$sw" 1 'hardware.banks:'
wrong "$amd,\"tRCD_ns\":-1" "$sw" 1 'hardware.tRCD_ns: -1: between 0 and'
wrong "$amd,\"tRP_ns\":NaN" "$sw" 1 'hardware.tRP_ns:'
wrong "$amd,\"tBurst_ns\":0" "$sw" 1 'hardware.tBurst_ns: 0:'
wrong "$amd,\"tCK_ns\":null" "$sw" 1 'hardware.tCK_ns: missing'
wrong "$amd,\"request_bytes\":1e13" "$sw" 1 'hardware.request_bytes: 1e+13:'
wrong "$amd" "$sw,\"hit\":0.9" 1 'software.hit, miss and conflict: a sum of 1 expected, not 1.1'
wrong "$amd" "$sw,\"miss\":-0.1" 1 'software.miss: -0.1: between 0 and 1'
wrong "$amd" "$sw,\"ranks\":0" 1 'software.ranks: 0:'
wrong "$amd" "$sw,\"brd\":{}" 1 'software.brd: probabilities that sum to 1 expected, not to 0'
wrong "$amd" "$sw,\"brd\":[]" 1 'software.brd: object expected'
wrong "$amd" "$sw,\"brd\":{\"one\":1}" 1 'software.brd: "one": a distance'
wrong "$amd" "$sw,\"brd\":{\"0\":1}" 1 'software.brd: "0": a distance'
wrong "$amd" "$sw,\"brd\":{\"nan\":1}" 1 'software.brd: "nan": a distance'
wrong "$amd" "$sw,\"brd\":{\"1\":\"1\"}" 1 'software.brd.1: number expected, not string'
wrong "$amd" "$sw,\"brd\":{\"1\":null}" 1 'software.brd.1: missing'
wrong "$amd" "$sw,\"brd\":{\"1\":1.07,\"8\":-0.07}" 1 'software.brd.1: 1.07: between 0 and 1'
wrong "$amd" "$sw,\"same_row\":0.6" 1 'software.same_row, same_bank and other_channel: a sum'
wrong "$amd" "$sw" 0 'cores: 0: between 1 and'
wrong "$amd" "$sw" 2.5 'cores: 2.5: a whole number'
wrong "$amd" "$sw" 1e6 'cores: 1000000: between 1 and'

exit $failed
