#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# bubble_set.sh - a set for contend_eval, on stdout, of a folder of results of Bubble-Up (Dzikowski 2025).
#
# usage: bubble_set.sh FOLDER [CLOCK]
#
# FOLDER has contentiousness_scores.csv (name, MB of bubble) and validated.csv (two names, two expected and two actual times
# alone / times beside each other). CLOCK is a word of contend_eval --setting; without one, the folder's name is. A pair with
# itself was not measured: it is null. As in the sets of the same source elsewhere, a quarter of the score stands in for GB/s of
# memory traffic, and the machine, which nobody names, is a guess. Of SPECspeed 2017 the programs of integers but xz have one thread, and
# so one core at work; all others have three.
[ $# -ge 1 ] && [ -r "$1/validated.csv" ] && [ -r "$1/contentiousness_scores.csv" ] || {
    echo "usage: bubble_set.sh FOLDER [CLOCK]" >&2
    exit 2
}
exec awk -v clock="${2:-$(basename "$1")}" '
NF < 2 || $1 == "name1" { next }
FILENAME ~ /scores/ { name[n++] = $1; score[$1] = $2; next }
{ slower[$1, $2] = 1 / $5 - 1; slower[$2, $1] = 1 / $6 - 1 }
END {
    printf "{\"source\":\"Bubble-Up, Dzikowski 2025\",\"clock\":\"%s\",\n", clock
    printf "\"machine\":{\"llc_bytes\":37486592,\"llc_ways\":11,\"line_bytes\":64,\"dram_gbps\":25,\"clock_ghz\":2.4},\n\"apps\":["
    for (i = 0; i < n; i++)
        printf "%s{\"name\":\"%s\",\"cores\":%d,\"mem_gbps\":%g}", i ? ",\n" : "", name[i],
               name[i] ~ /^6(00|02|05|20|23|25|31|41|48)\./ ? 1 : 3, score[name[i]] / 4
    printf "],\n\"corun_degradation\":["
    for (i = 0; i < n; i++) {
        printf "%s[", i ? ",\n" : ""
        for (j = 0; j < n; j++)
            printf "%s%s", j ? "," : "", (name[i], name[j]) in slower ? slower[name[i], name[j]] : "null"
        printf "]"
    }
    print "]}"
}' "$1/contentiousness_scores.csv" "$1/validated.csv"
