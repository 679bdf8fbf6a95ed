#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_ctl_report - `berthctl report` on a ledger in a file: the options, whose steps, what they look like, and what can be wrong.
# BERTHCTL and LEDGER_FILL name the programs (the build folder's by default).
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"
fill=${LEDGER_FILL:-./tests/unit/common/ledger_fill}
url=sqlite:$dir/ledger.db
export TZ=UTC0 LC_ALL=C

# record NODE JOB STEP USER UID START SECONDS STATUS FIELDS: a record that ran on four cores
record() {
    printf '{"cluster":"c","node":"%s","job":%s,"step":%s,"user":"%s","uid":%s,"gid":100,"start":%s,"end":%s,"elapsed_s":%s,"exit_status":%s,"cores_given":4%s}\n' \
        "$1" "$2" "$3" "$4" "$5" "$6" $(($6 + $7)) "$7" "$8" "$9"
}
morning=1795248000 # 2026-11-21T08:00:00
metered='"uj_package":3000000000,"uj_dram":1000000001,"energy_source":"rapl-powercap"'
named='"identity":"slurmctld","account":"phys","partition":"main","job_name":"solver-with-a-long-name","state":"placed"'
{
    record n1 12 4294967291 alice 1000 $morning 1000 0 ",$metered,$named"
    record n1 12 0 alice 1000 $((morning + 10)) 900 0 ",$metered,$named"
    record n2 12 0 alice 1000 $((morning + 10)) 900 0 ",$metered,$named"
    record n2 14 0 bob 1001 $((morning + 3600)) 60 256 ',"array_job":13,"array_task":3,"identity":"slurmctld","account":"chem","partition":"short","job_name":"a\"b,c","state":"left"'
    record n3 15 0 "" 77 $((morning + 86400)) 60 null ",$metered"
} | "$fill" "$url" || exit 99
all="-S 2026-11-01 -E 2026-12-01"

# reports OUTPUT OPTION..: of all users
reports() {
    wanted=$1
    shift
    # shellcheck disable=SC2086 # times are several words
    answers '' "$wanted" report --ledger "$url" $all "$@"
}
rows() { # ROWS OPTION..: their job ids, in one line
    wanted=$1
    shift
    run '' report --ledger "$url" -o jobid%-1 -nP "$@"
    [ $status -eq 0 ] || bad "report $*" "status 0" "$status: $(cat "$dir/err")"
    [ "$(tr '\n' ' ' <"$dir/out")" = "$wanted" ] || bad "report $*" "$wanted" "$(cat "$dir/out")"
}
if [ "$(id -u)" -eq 0 ]; then a=; else a=-a; fi

# ---- what it looks like ----
reports 'JobID           JobName  AllocCPUS    Elapsed      State ExitCode     Energy 
------------ ---------- ---------- ---------- ---------- -------- ---------- 
12           solver-wi+          8   00:16:40  COMPLETED      0:0    12.00kJ 
12.batch     solver-wi+          4   00:16:40  COMPLETED      0:0    4.000kJ 
12.0         solver-wi+          8   00:15:00  COMPLETED      0:0    8.000kJ 
13_3              a"b,c          4   00:01:00     FAILED      1:0            
13_3.0            a"b,c          4   00:01:00     FAILED      1:0            
15                               4   00:01:00                        4.000kJ 
15.0                             4   00:01:00                        4.000kJ ' $a -o JobID,JobName,AllocCPUS,Elapsed,State,ExitCode,Energy
reports 'JobID|EnergyRaw
12|12000.000003
13_3|
15|4000.000001' $a -X --parsable2 -o jobid,energyraw
reports '12/0.012MJ/
13_3//
15/0.004MJ/' -X $a -n --parsable --delimiter / -o JobID,Energy --units=mj
reports 'job_id,job_name,energy_j,start
12,solver-with-a-long-name,12000.000003,2026-11-21T08:00:00
13_3,"a""b,c",,2026-11-21T09:00:00
15,,4000.000001,2026-11-22T08:00:00' $a -X --csv -o JobID,JobName,Energy,Start
reports '{"since":1793491200,"until":1796083200,"jobs":[
{"job_id":"13_3","energy_j":null,"start":1795251600,"steps":[{"job_id":"13_3.0","energy_j":null,"start":1795251600}]}],
"total":{"job_id":null,"energy_j":null,"start":1795251600}}' --json -j 13_3 -o JobID,Energy,Start
reports '12.0         n1         4.000kJ 
12.0         n2         4.000kJ ' -n -o JobID,NodeList%-10,Energy%7 --per-node -j 12.0

# a table fits a terminal, and a line of 80 where there is none; what it leaves out is what a wider one has
reports 'JobID           JobName     User NCPUS    Elapsed    Energy        EDP Avoided 
------------ ---------- -------- ----- ---------- --------- ---------- ------- 
12           solver-wi+    alice     8   00:16:40   12.00kJ   12.00MJs         
13_3              a"b,c      bob     4   00:01:00                              
15                                   4   00:01:00   4.000kJ   240.0kJs         
total                                    00:18:40 >=16.00kJ >=12.24MJs         ' $a -X
reports '12           solver-wi+    alice     8   00:16:40   12.00kJ   12.00MJs         
13_3              a"b,c      bob     4   00:01:00                              
15                                   4   00:01:00   4.000kJ   240.0kJs         ' $a -X -n
reports 'User           Jobs  Steps CoreHours UnusedHours    Energy SlowdownObs Avoided 
------------ ------ ------ --------- ----------- --------- ----------- ------- 
77                1      1     0.067               4.000kJ                     
alice             1      2     2.111               12.00kJ                     
bob               1      1     0.067                                           
total             3      4     2.244             >=16.00kJ                     ' $a --by user
widest() { # COLUMNS OPTION..: the widest line on a terminal of so many
    # shellcheck disable=SC2086 # options are several words
    script -qec "stty cols $1; $berthctl report --ledger $url $all $a $2" /dev/null | tr -d '\r' | awk '{ if (length > n) n = length } END { print n }'
}
if command -v script >/dev/null; then
    for columns in 80 95 105 115 130; do
        for option in '' '--by user'; do
            [ "$(widest "$columns" "$option")" -le "$columns" ] || bad "report $option" "$columns columns" "$(widest "$columns" "$option")"
        done
    done
    [ "$(widest 130 '')" -gt 110 ] || bad 'report on a wide terminal' 'more columns' "$(widest 130 '')"
fi

# what energy is to the site
printf 'energy_price = 0.30\nenergy_currency = CHF\nenergy_co2 = 400\n' >"$dir/site.conf"
reports 'Account          Energy         Cost        CO2 
------------ ---------- ------------ ---------- 
                4.000kJ   0.00033CHF     0.444g 
chem                                            
phys            12.00kJ    0.0010CHF     1.333g 
total         >=16.00kJ  >=0.0013CHF   >=1.778g 
>=0.004444kWh, >=0.0013CHF (0.3CHF a kWh), >=1.778g of CO2 (400g a kWh)' $a --config "$dir/site.conf" --by account -o Group,Energy,Cost,CO2
reports '{"since":1793491200,"until":1796083200,"currency":"CHF","by":"account","totals":[
{"account":null,"cost":0.000333333333417,"co2_g":0.444444444556},
{"account":"chem","cost":null,"co2_g":null},
{"account":"phys","cost":0.00100000000025,"co2_g":1.33333333367}],
"total":{"account":null,"cost":0.00133333333367,"co2_g":1.77777777822}}' $a --config "$dir/site.conf" --by account --json -o Group,Cost,CO2
reports 'Cost|CO2
|' $a -j 12 -X --parsable2 -o Cost,CO2

# ---- nothing ----
"$fill" "sqlite:$dir/empty.db" </dev/null
answers '' 'no step has ended yet' report --ledger "sqlite:$dir/empty.db" $a
answers '' 'no step has ended yet' report --ledger "sqlite:$dir/empty.db" $a --by user
answers '' '' report --ledger "sqlite:$dir/empty.db" $a -n
answers '' 'JobID|' report --ledger "sqlite:$dir/empty.db" $a -p -o JobID
answers '' 'no such step has ended' report --ledger "$url" $a -j 99
answers '' 'no such step ran between 2026-11-01T00:00:00 and 2026-11-02T00:00:00' report --ledger "$url" $a -S 2026-11-01 -E 2026-11-02
answers '' "no such step ran between 2026-11-01T00:00:00 and 2026-11-02T00:00:00
no user 'no-such-user' is known here" report --ledger "$url" -u root,no-such-user,4000000 -S 2026-11-01 -E 2026-11-02

# ---- jobs one by one ----
# They are written as they are read: steps of one that began between those of another are its own, and the total has all.
{
    record n1 21 0 alice 1000 $morning 100 0 ",$metered"
    record n1 22 0 bob 1001 $((morning + 10)) 100 0 ",$metered"
    record n2 21 1 alice 1000 $((morning + 20)) 100 0 ",$metered"
    record n1 23 0 alice 1000 $((morning + 30)) 100 0 ''
} | "$fill" "sqlite:$dir/mixed.db" || exit 99
# shellcheck disable=SC2086 # times are several words
answers '' '{"since":1793491200,"until":1796083200,"jobs":[
{"job_id":"21","energy_j":8000.000002,"step_count":2,"steps":[{"job_id":"21.0","energy_j":4000.000001,"step_count":1},{"job_id":"21.1","energy_j":4000.000001,"step_count":1}]},
{"job_id":"22","energy_j":4000.000001,"step_count":1,"steps":[{"job_id":"22.0","energy_j":4000.000001,"step_count":1}]},
{"job_id":"23","energy_j":null,"step_count":1,"steps":[{"job_id":"23.0","energy_j":null,"step_count":1}]}],
"total":{"job_id":null,"energy_j":12000.000003,"step_count":4}}' report --ledger "sqlite:$dir/mixed.db" $all $a --json -o JobID,Energy,Steps

# ---- totals ----
reports 'User             Jobs    Steps     Energy   Metered 
------------ -------- -------- ---------- --------- 
77                  1        1    4.000kJ       1/1 
alice               1        2    12.00kJ       3/3 
bob                 1        1                  0/1 
total               3        4  >=16.00kJ       4/5 ' $a --by user -o Group,Jobs,Steps,Energy,Metered
reports 'day,job_count,energy_j
2026-11-21,2,12000.000003
2026-11-22,1,4000.000001' $a --by day --csv -o Group,Jobs,Energy
reports 'n1|1
n2|2
n3|1' $a --by node -nP -o Group,Jobs
reports '|1
chem|1
phys|1' $a --by account -nP -o Group,Jobs
reports '12
13_3
15' $a --by job -nP -o JobID
reports '{"since":1793491200,"until":1796083200,"by":"partition","totals":[
{"partition":null,"job_count":1},
{"partition":"main","job_count":1},
{"partition":"short","job_count":1}],
"total":{"partition":null,"job_count":3}}' $a --by partition --json -o Group,Jobs

reports 'Month        Account        Jobs  Steps CoreHours UnusedHours    Energy 
------------ ------------ ------ ------ --------- ----------- --------- 
2026-11                        1      1     0.067               4.000kJ 
2026-11      chem              1      1     0.067                       
2026-11      phys              1      2     2.111               12.00kJ 
total                          3      4     2.244             >=16.00kJ ' $a --by month,account
reports 'account,user,energy_j,cost,currency
,77,4000.000001,,
chem,bob,,,
phys,alice,12000.000003,,' $a --by account,user --csv -o Group,Energy,Cost,Currency
reports '{"since":1793491200,"until":1796083200,"by":"node,day","totals":[
{"node":"n1","day":"2026-11-21","energy_j":8000.000002,"edp_js":8000000.002},
{"node":"n2","day":"2026-11-21","energy_j":4000.000001,"edp_js":3600000.0009},
{"node":"n3","day":"2026-11-22","energy_j":4000.000001,"edp_js":240000.00006}],
"total":{"node":null,"day":null,"energy_j":16000.000004,"edp_js":null}}' $a --by node,day --json -o Group,Energy,EDP

# a figure is never cut, and the site has columns of its own
reports '12000.000003 ' -n -X -j 12 -o EnergyRaw%4
printf 'report_fields = Cost,CO2\nenergy_price = 3\nenergy_tariff = 09:00-10:00=6\n' >"$dir/fields.conf"
reports 'Account        Jobs  Steps CoreHours    Energy         Cost        CO2 
------------ ------ ------ --------- --------- ------------ ---------- 
                  1      1     0.067   4.000kJ    0.0033EUR            
chem              1      1     0.067                                   
phys              1      2     2.111   12.00kJ     0.010EUR            
total             3      4     2.244 >=16.00kJ   >=0.013EUR            
>=0.004444kWh, >=0.013EUR (3EUR a kWh on average)' $a --by account --config "$dir/fields.conf"
# what takes more than four digits of kWh is told in MWh
record n9 90 0 eve 1009 $morning 1000 0 ',"uj_package":90000000000000000' | "$fill" "sqlite:$dir/much.db" || exit 99
answers '' 'User             Energy         Cost 
------------ ---------- ------------ 
eve            25.00MWh   7500.00CHF 
25MWh, 7500.00CHF (0.3CHF a kWh), 10.00t of CO2 (400g a kWh)' report --ledger "sqlite:$dir/much.db" $a $all --config "$dir/site.conf" --by user -o Group,Energy,Cost
printf 'report_fields = Cost,Colour\n' >"$dir/fields.conf"
refuses '' 2 "report_fields of berth.conf: no such field: 'Colour'" report --ledger "$url" --config "$dir/fields.conf"

# ---- limits ----
# Two hours over midnight, 4 kJ: whole on both days, and a quarter and three of it where it is divided.
{
    record n1 31 0 alice 1000 $((morning + 57600 - 1800)) 7200 0 ",$metered,$named"
} | "$fill" "sqlite:$dir/night.db" || exit 99
for day in 2026-11-21:2026-11-22 2026-11-22:2026-11-23; do
    run '' report --ledger "sqlite:$dir/night.db" $a -S "${day%:*}" -E "${day#*:}" --by user --csv -o Group,Steps,Energy
    [ "$(tail -n 1 "$dir/out")" = 'alice,1,4000.000001' ] || bad "report -S ${day%:*}" 'all of it' "$(cat "$dir/out")"
    grep -q '1 record of steps that ran over the beginning or the end counts whole, as in sacct: --divide' "$dir/err" ||
        bad "report -S ${day%:*}" 'a word of what is billed twice' "$(cat "$dir/err")"
done
answers '' 'user,step_count,core_hours,energy_j
alice,0,2,1000.000000' report --ledger "sqlite:$dir/night.db" $a -S 2026-11-21 -E 2026-11-22 --by user --csv -o Group,Steps,CoreHours,Energy --divide
answers '' 'user,step_count,core_hours,energy_j
alice,1,6,3000.000001' report --ledger "sqlite:$dir/night.db" $a -S 2026-11-22 -E 2026-11-23 --by user --csv -o Group,Steps,CoreHours,Energy --divide
answers '' 'day,job_count,step_count,energy_j
2026-11-21,1,0,1000.000000
2026-11-22,1,1,3000.000001' report --ledger "sqlite:$dir/night.db" $a -S 2026-11-01 -E 2026-12-01 --by day --csv -o Group,Jobs,Steps,Energy --divide

# of a job that has just ended more may come; rows without a header are a script's
now=$(date +%s)
record n1 41 0 alice 1000 $((now - 30)) 20 0 '' | "$fill" "sqlite:$dir/fresh.db" || exit 99
run '' report --ledger "sqlite:$dir/fresh.db" -j 41 -XP -o JobID
grep -q '1 job ended a step less than 60 s ago: more of its records may come' "$dir/err" || bad 'report -j 41' 'more may come' "$(cat "$dir/err")"
run '' report --ledger "sqlite:$dir/fresh.db" -j 41 -XnP -o JobID
[ -s "$dir/err" ] && bad 'report -j 41 -n' 'nothing' "$(cat "$dir/err")"

# ---- does it help? ----
# shellcheck disable=SC2086 # times are several words
{
    run '' report --ledger "$url" $all $a --benefit
    grep -q '^Not known of 4 of 4 steps:' "$dir/out" || bad 'report --benefit' 'nothing known of four' "$(cat "$dir/out")"
    [ "$(head -c 29 "$dir/out")" = 'Cannot be told yet: no progra' ] || bad 'report --benefit' 'no gain claimed' "$(cat "$dir/out")"
    run '' report --ledger "$url" $all -j 12 --benefit --json
    grep -q '"steps": *2,' "$dir/out" || bad 'report --benefit --json -j 12' 'two records of a step' "$(cat "$dir/out")"
    run '' report --ledger "$url" $all $a --variation
    grep -q '^It cannot be told yet whether berth makes runs more even: no program has' "$dir/out" || bad 'report --variation' 'nothing claimed' "$(cat "$dir/out")"
    run '' report --ledger "$url" $all $a --variation --json
    grep -q '"word": *"untold"' "$dir/out" || bad 'report --variation --json' 'untold' "$(cat "$dir/out")"
    run '' report --ledger "$url" -S now-1minute $a --benefit
    grep -q '^Cannot be told yet: no step that berth knew of' "$dir/out" || bad 'report --benefit' 'no step' "$(cat "$dir/out")"
}
# Four ledgers: each begins with its verdict, on the page, too.
ledger_of() { # NAME STEPS SLURM BERTH SCATTER: steps either way of a program, so much slower than alone, less or more by turns
    awk -v n="$2" -v slurm="$3" -v berth="$4" -v scatter="$5" 'BEGIN {
        for (i = 1; i <= n; i++)
            for (placed = 0; placed < 2; placed++)
                printf "{\"cluster\":\"c\",\"node\":\"n1\",\"job\":%d,\"step\":0,\"user\":\"alice\",\"uid\":1000,\"start\":%d,\"end\":%d,\"elapsed_s\":3600,\"cores_given\":4,\"program\":\"solver\",\"state\":\"%s\",\"knowledge\":\"counters\",\"slowdown_home\":0.3,\"slowdown_predicted\":0.1,\"slowdown_observed\":%.4f}\n", 2 * i + placed, 1795248000 + i, 1795251600 + i, placed ? "placed" : "observed", (placed ? berth : slurm) + scatter * (i % 2 ? 1 : -1)
    }' | "$fill" "sqlite:$dir/$1.db" || exit 99
}
verdict() { # NAME BEGINNING
    # shellcheck disable=SC2086 # times are several words
    run '' report --ledger "sqlite:$dir/$1.db" $all $a --benefit
    [ "$(tr '\n' ' ' <"$dir/out" | head -c ${#2})" = "$2" ] || bad "report --benefit, $1" "$2" "$(head -4 "$dir/out")"
    # shellcheck disable=SC2086
    "$berthctl" report --ledger "sqlite:$dir/$1.db" $all $a --html "$dir/$1.html"
    grep -qF "$2" "$dir/$1.html" || bad "report --html, $1" "$2" "$(grep 'class="verdict' "$dir/$1.html")"
}
ledger_of helps 50 0.3 0.1 0.05
ledger_of hurts 100 0.06 0.16 0.02
ledger_of null 400 0.1 0.1 0.05
ledger_of few 3 0.3 0.1 0.2
ledger_of one 1 0.3 0.1 0
verdict helps 'berth helps: the same programs took 15.4% less time (14.0% to 16.8%) where berth put them than where Slurm did, measured on 50 and 50 jobs of 1 program.'
verdict hurts 'berth HURTS: the same programs took 9.4% more time (8.9% to 10.0%) where berth put them than where Slurm did, measured on 100 and 100 jobs of 1 program.'
verdict null 'No gain here: the same programs took 0.0% less time (0.6% more to 0.6% less) where berth put them than where Slurm did, measured on 400 and 400 jobs of 1 program.'
verdict few 'Cannot be told yet: about '
verdict one 'Cannot be told yet: no program was measured twice both where Slurm put it and where berth did; at least 2 more jobs of one, 1 where Slurm puts it and 1 where berth does; only predicted: '
run '' report --ledger "sqlite:$dir/hurts.db" -S 2026-11-01 -E 2026-12-01 $a --benefit
grep -q '^Programs that gained, measured: none' "$dir/out" || bad 'report --benefit, hurts' 'no winner' "$(cat "$dir/out")"
grep -qF '"verdict":{"word":"hurts"' "$dir/hurts.html" || bad 'report --html, hurts' 'the word' "$(grep -c verdict "$dir/hurts.html") lines"
run '' report --ledger "sqlite:$dir/hurts.db" -S 2026-11-01 -E 2026-12-01 $a --by user -o CoreHours --json
grep -qF '"core_hours":800}' "$dir/out" || bad 'report --json -o CoreHours' 'whole hours, not seconds' "$(cat "$dir/out")"

# A line that is longer than what is written at once: 3000 names, and a delimiter of 10,000 characters.
many=$(awk 'BEGIN { for (i = 0; i < 3000; i++) printf "JobName%s", i < 2999 ? "," : "" }')
for shape in --csv '--parsable2 --delimiter ,'; do
    # shellcheck disable=SC2086 # words
    run '' report --ledger "$url" $all $a -X -n $shape -j 13_3 -o "$many"
    case $shape in --csv) cell='"a""b,c"' ;; *) cell='a"b,c' ;; esac
    awk -v cell="$cell" 'BEGIN { for (i = 0; i < 3000; i++) printf "%s%s", cell, i < 2999 ? "," : "\n" }' | cmp -s - "$dir/out" || bad "report $shape" "3000 names" "others"
done
long=$(awk 'BEGIN { for (i = 0; i < 10000; i++) printf "%d", i % 10 }')
# shellcheck disable=SC2086 # words
run '' report --ledger "$url" $all $a -X -n --parsable2 --delimiter "$long" -j 12 -o JobID,Elapsed
[ "$(cat "$dir/out")" = "12${long}00:16:40" ] || bad "report --delimiter" "all of it" "$(head -c 100 "$dir/out")"

for option in --csv --by=user '-o JobID' -X --per-node '--html x'; do
    # shellcheck disable=SC2086 # an option and its value
    refuses '' 2 "--benefit is a page by itself" report --benefit $option
done

# ---- which ones ----
# shellcheck disable=SC2086 # $all and $a are lists of words
{
    rows '12 12.batch 12.0 ' -j 12
    rows '12.batch ' -j 12.batch
    rows '12.batch 13_3.0 ' -j 12.batch,13_3.0
    rows '12 12.batch 12.0 13_3 13_3.0 ' -j 12 -j 13
    rows '13_3 13_3.0 ' --jobs=14
    rows '13_3 13_3.0 ' --jobs 13_3
    rows '' -j 13_4
    mkdir -p "$dir/slurm"
    printf '#!/bin/sh\necho "15|0|1|RUNNING|n1|12+1|1:00|N/A|4||all|chem|x"\n' >"$dir/slurm/squeue"
    chmod 755 "$dir/slurm/squeue"
    PATH="$dir/slurm:$PATH" rows '15 15.0 ' -j 12+1
    PATH="$dir/slurm:$PATH" rows '15.0 ' -j 12+1.0
    rows '12 12.batch 12.0 ' -j 12+0
    rows '12 13_3 ' $all -X -u alice,1001
    rows '15 ' $all -X --uid 77
    rows '12 13_3 15 ' $all -X -u alice -a
    rows '12 13_3 ' $all -X -a -u alice,1001
    rows '12 ' $all -X $a -A phys
    rows '13_3 ' $all -X $a --partition short,none
    rows '12 13_3 ' $all -X -N 'n[2,9]'
    rows '12 12.batch 12.0 ' $all -N n1 -j 12.batch,12
    rows '12 ' $all -X $a -s cd
    rows '13_3 ' $all -X $a --state FAILED
    rows '12 13_3 ' $all -X $a -s left,placed
    rows '' $all -X $a -s CA,TO
    rows '15 ' -X $a -S 2026-11-22 -E 2026-11-23
    rows '12 ' -X $a -S 11/21/26 -E 2026-11-21T08:30
    rows '12 13_3 15 ' -X $a -S 2026-11-21T08:00:00 -E 2026-11-22T08:00:01
    rows '' -X $a -S 2026-11-21T08:17 -E 2026-11-21T09:00
    rows '' -X $a -S now-1minute
}
# With -s alone that is what runs now; with a beginning it is all that ended since then.
if [ "$(date +%s)" -gt $((morning + 7200)) ]; then later=2026-11-21; else later=; fi
[ -z "$later" ] || rows '13_3 ' -X $a -s F -S "$later"
run '' report --ledger "$url" -s F -X $a
grep -q 'give --starttime' "$dir/err" || bad 'report -s F' 'give --starttime' "$(cat "$dir/err")"

# Another user sees his own steps, and those of jobs and users that he names.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$dir"
    chmod 644 "$dir"/ledger.db*
    real=$berthctl
    cat >"$dir/as" <<END
#!/bin/sh
exec setpriv --reuid=1001 --regid=1001 --clear-groups $(realpath "$real") "\$@"
END
    [ -x ./libtool ] && [ -x .libs/berthctl ] && sed -i "s|$(realpath "$real")|$(realpath .libs/berthctl)|" "$dir/as"
    chmod 755 "$dir/as"
    if "$dir/as" --version >/dev/null 2>&1; then
        berthctl=$dir/as
        # shellcheck disable=SC2086
        {
            rows '13_3 ' $all -X
            rows '12 ' -X -j 12
            rows '12 ' -X $all -u alice
            rows '12 13_3 15 ' -X $all -a
        }
        chmod 600 "$dir"/ledger.db*
        refuses '' 1 'only root may read it, until readers of berth.conf names a group' report --ledger "$url"
        # A berthd that does not know the question, and one that answers.
        printf 'ledger = %s\ntune = socket=%s/sock\n' "$url" "$dir" >"$dir/asks.conf"
        chmod 644 "$dir/asks.conf"
        refuses '' 1 "a group that may; berthd tells nothing of your own: no answer at $dir/sock: No such file" report --config "$dir/asks.conf"
        echo '{"version":1,"ok":false,"error":"op: '"'records'"' is none of: register, end"}' >"$dir/older"
        printf '{"version":1,"ok":true,"more":true,"record":{"job":7,"start":%s,"end":%s,"uid":1001,"some_day":[1]}}\n' "$morning" $((morning + 9)) >"$dir/page"
        cat "$dir/page" >"$dir/last"
        echo '{"version":1,"ok":true,"more":false,"next":{"end":9,"start":1,"job":7,"step":0,"restart":0,"cluster":"","node":"n"}}' >>"$dir/page"
        sed -i 's/"job":7/"job":8/' "$dir/last"
        echo '{"version":1,"ok":true,"more":false}' >>"$dir/last"
        "${FAKE_BERTHD:-./tests/unit/common/fake_berthd}" "$dir/sock" "$dir/older" "$dir/page" "$dir/last" >"$dir/asked" &
        server=$!
        trap 'kill $server 2>/dev/null; rm -rf "$dir"' EXIT
        for _ in $(seq 400); do [ -S "$dir/sock" ] && break; sleep 0.05; done
        chmod 777 "$dir/sock"
        refuses '' 1 'berthd tells nothing of your own: it is older than this berthctl, and knows no records' report --config "$dir/asks.conf"
        answers '' '7
8' report --config "$dir/asks.conf" -S 2026-11-01 -E 2026-12-01 -XnP -o JobID
        [ "$(grep -c '"op":"records","since":1793491200,"until":1796083199,"users":\["1001"\]' "$dir/asked")" -eq 2 ] || bad 'report' 'two questions' "$(cat "$dir/asked")"
        [ "$(grep -c '"after":{"end":9,"start":1,"job":7,' "$dir/asked")" -eq 1 ] || bad 'report' 'what follows the first page' "$(cat "$dir/asked")"
        : >"$dir/root.cnf"
        chmod 600 "$dir/root.cnf"
        printf 'ledger = mariadb://berth@127.0.0.1:1/berth\nledger_defaults = %s/root.cnf\n' "$dir" >"$dir/maria.conf"
        chmod 644 "$dir/maria.conf"
        refuses '' 1 "$dir/root.cnf: it has the ledger's password, and you may not read it" report --config "$dir/maria.conf"
        berthctl=$real
    else
        echo 'the build folder is not for others to read: what another user sees was not tried' >&2
    fi
fi

# ---- what can be wrong ----
says 'usage: berthctl report' report --help
says 'EnergySource' report --helpformat
printf 'ledger = sqlite:%s/none.db\n' "$dir" >"$dir/none.conf"
refuses '' 1 "$dir/none.db: there is no ledger yet: no step has ended here" report --config "$dir/none.conf"
refuses '' 1 "$dir/none.db: No such file or directory" report --ledger "sqlite:$dir/none.db"
refuses '' 2 "--nonsense: no such option" report --nonsense
refuses '' 2 "--jobs: a value is missing" report --jobs
refuses '' 2 "takes no argument: 12" report 12
refuses '' 2 "--jobs: 12, 12.0, 12.batch, 12_3, 12_3.0 or 12+1 expected, not '12.x'" report -j 12.x
refuses '' 2 "expected, not '12_'" report -j 12_
refuses '' 2 "--jobs: a list expected" report -j ,
refuses '' 2 "--starttime: a time as sacct takes it expected" report -S yesterday
refuses '' 2 "--starttime is after --endtime" report -S 2026-11-22 -E 2026-11-21
refuses '' 2 "--state: no such state: 'done'" report -s done
refuses '' 2 "--nodelist: nodes such as n1,n[2-4] expected" report -N 'n[1-'
refuses '' 2 "--format: no such field: 'Colour'" report -o JobID,Colour
refuses '' 2 "--format: JobID%0: a width from 1 to 512 expected" report -o JobID%0
refuses '' 2 "--by: words of user, account, partition, node, day, month, or job alone, expected, not 'group'" report --by group
refuses '' 2 "expected, not 'moth' (month?)" report --by user,moth
refuses '' 2 "--by: 'user' stands there twice" report --by user,account,user
refuses '' 2 "--by: 3 words at most" report --by user,account,day,node
refuses '' 2 "--by: job stands alone" report --by user,job
refuses '' 2 "--units: one of auto, J, kJ, MJ, kWh, MWh expected, not 'eV'" report --units eV
refuses '' 2 "one of --parsable, --parsable2, --csv and --json only" report --csv --json
refuses '' 2 "--html is a page by itself" report --html x --json
refuses '' 1 "no-such.db" report --ledger "sqlite:$dir/no-such.db"
refuses '' 1 "" report --ledger "nothing:$dir"
printf 'ledger=off\n' >"$dir/berth.conf"
refuses '' 1 "berth.conf says ledger=off" report --config "$dir/berth.conf"
printf 'ledger=%s\n' "$url" >"$dir/berth.conf"
answers '' '12' report --config "$dir/berth.conf" -j 12 -X -nP -o JobID
printf 'nonsense=1\n' >"$dir/berth.conf"
refuses '' 1 "$dir/berth.conf:1" report --config "$dir/berth.conf"
refuses '' 1 "$dir/no/page.html: No such file or directory" report --ledger "$url" --html "$dir/no/page.html"
"$berthctl" report --ledger "$url" -j 12 >/dev/full 2>"$dir/err" && bad 'report >/dev/full' 'a failure' 'none'
grep -q 'No space left' "$dir/err" || bad 'report >/dev/full' 'No space left' "$(cat "$dir/err")"
exit $failed
