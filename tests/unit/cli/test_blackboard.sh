#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_blackboard - `berthctl blackboard` over a blackboard that somebody writes, one whose writer was killed, and none.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"
file=$dir/blackboard
mkfifo "$dir/end"

# page_with WORDS: the reader's pages until one has them, 600 at most.
page_with() {
    i=0
    while [ $i -lt 600 ] && read -r page <&4; do
        case $page in *"$1"*) return ;; esac
        i=$((i + 1))
    done
    bad 'blackboard -n' "$1" "$page"
}

# written: until a page says that all was written just now.
written() {
    i=0
    until "$berthctl" blackboard -f "$file" --json 2>/dev/null | grep -q '"why":null.*"why":null.*"why":null'; do
        i=$((i + 1))
        [ $i -lt 600 ] || { bad blackboard 'a blackboard that is written' "$("$berthctl" blackboard -f "$file" --json 2>&1)"; exit 1; }
        sleep 0.1
    done
}

tests/unit/common/board_fill "$file" <"$dir/end" &
exec 3>"$dir/end"
written
run '' blackboard -f "$file" --json
sed 's/"age_s":[0-9.e-]*/"age_s":0/g; s/"writer":[0-9]*/"writer":1/' "$dir/out" >"$dir/page"
wanted='{"file":"'$file'","writer":1,"sections":[{"name":"node","state":"normal","utilisation":0.75,"traffic_bytes_s":30000000000.0,"watts":212.5,"age_s":0,"why":null},{"name":"memory0","state":"saturated","utilisation":0.96875,"traffic_bytes_s":19500000000.0,"watts":null,"age_s":0,"why":null},{"name":"memory1","state":null,"utilisation":null,"traffic_bytes_s":null,"watts":null,"age_s":0,"why":null}]}'
[ "$(cat "$dir/page")" = "$wanted" ] || bad 'blackboard --json' "$wanted" "$(cat "$dir/page")"
says 'SECTION     STATE        USED%     GB/s    WATTS    AGE s' blackboard -f "$file"
says 'node        normal        75.0    30.00    212.5 ' blackboard -f "$file"
says 'memory0     saturated     96.9    19.50        - ' blackboard -f "$file"
says 'memory1     -                -        -        - ' blackboard -f "$file"
# where berth.conf says, page over page
echo "tune = state_dir=$dir" >"$dir/berth.conf"
chmod 600 "$dir/berth.conf"
run '' blackboard -c "$dir/berth.conf" -n 3 -d 0.01 --json
[ "$(wc -l <"$dir/out")" = 3 ] || bad 'blackboard -n 3' 'three pages' "$(cat "$dir/out")"

# the writer ends while somebody reads: the reader is told, and follows the next writer
mkfifo "$dir/pages"
"$berthctl" blackboard -f "$file" -n 1000000 -d 0.05 --json >"$dir/pages" 2>"$dir/err" 3>&- & # which keeps its writer's stdin open, else
reader=$!
exec 4<"$dir/pages"
page_with '"why":null'
exec 3>&-
page_with 'its writer has ended'
refuses '' 1 "berthctl: $file: there is none (is berthd running, with blackboard=on? berthctl doctor)" blackboard -f "$file"
tests/unit/common/board_fill -k "$file" <"$dir/end" &
writer=$!
exec 3>"$dir/end"
page_with '"why":null'
kill $reader
exec 4<&-

why_becomes() { # WHY
    i=0
    until "$berthctl" blackboard -f "$file" --json | grep -q "\"why\":\"$1\""; do
        i=$((i + 1))
        [ $i -lt 600 ] || { bad blackboard "$1" "$("$berthctl" blackboard -f "$file" --json)"; break; }
        sleep 0.1
    done
}

# that one writes nothing for a while, but lives: as berthd while no step runs
kill -STOP $writer
why_becomes 'no step runs that berthd counts: nothing is written'
kill -CONT $writer

# that one is killed: after a while what it wrote is too old
exec 3>&-
why_becomes 'not written for too long'
says 'not written for too long' blackboard -f "$file"

# and one that was killed in the middle of a section: memory0's counter is odd for ever
printf '\001' | dd of="$file" bs=1 seek=8192 conv=notrunc status=none
says 'memory0     -                -        -        -        -  being written' blackboard -f "$file"
"$berthctl" blackboard -f "$file" --json | grep -q '{"name":"memory0","state":null,.*"why":"being written"}' ||
    bad 'blackboard --json' 'memory0, being written' "$("$berthctl" blackboard -f "$file" --json)"

echo 'no blackboard' >"$dir/text"
refuses '' 1 "berthctl: $dir/text: not a blackboard of this version and boot, or not root's" blackboard -f "$dir/text"
refuses '' 2 'berthctl: blackboard: --delay: seconds from 0.01 to 3600 expected' blackboard -d 0
exit $failed
