#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_cluster - `berthctl status --cluster`: a ledger in a file that many nodes have told of themselves, and a Slurm that is played.
# shellcheck disable=SC2154 # ctl_check's dir and berthctl
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"
fill=${LEDGER_FILL:-./tests/unit/common/ledger_fill}
export TZ=UTC0 LC_ALL=C
mkdir "$dir/slurm"
PATH=$dir/slurm:$PATH
now=$(date +%s)
printf 'ledger = sqlite:%s\n' "$dir/own.db" >"$dir/berth.conf"
chmod 600 "$dir/berth.conf"

# sinfo_says LINE..: with a warning in the middle of the first line, which is no node
sinfo_says() {
    printf '%s\n' "$@" >"$dir/slurm/says"
    printf '#!/bin/sh\nhead -c 1 %s\necho "sinfo: warning|down" >&2\ntail -c +2 %s\n' "$dir/slurm/says" "$dir/slurm/says" >"$dir/slurm/sinfo"
    chmod 755 "$dir/slurm/sinfo"
}
# cluster STATUS OPTION..
cluster() {
    want=$1
    shift
    run '' status --cluster --config "$dir/berth.conf" "$@"
    [ "$status" -eq "$want" ] || bad "status --cluster $*" "status $want" "$status: $(cat "$dir/err")"
}
# has TEXT: the page has it, blanks and lines as one
has() {
    tr -s ' \n' '  ' <"$dir/out" | grep -qF -e "$1" || bad 'status --cluster' "$1" "$(cat "$dir/out")"
}

# nobody has told anything yet, and no ledger is shared
sinfo_says 'n1|idle'
cluster 1
[ "$(cat "$dir/err")" = "berthctl: status --cluster: the nodes share no ledger: berth.conf has ledger = sqlite:$dir/own.db; each berthd tells how it fares in one of MariaDB" ] ||
    bad 'no shared ledger' 'why' "$(cat "$dir/err")"
"$fill" "sqlite:$dir/all.db" </dev/null || exit 99
cluster 1 --ledger "sqlite:$dir/all.db"
has '1 node: 1 silent NODE BERTH SLURM HEARD UP STEPS MISSED n1 silent idle - - - 0 silent: its berthd has told nothing for 11 minutes or more; berthctl doctor there says why'

# all is well
sinfo_says 'n1|mixed' 'n1|mixed' 'n2|idle'
printf '%s\n' "n1 $((now - 20)) $((now - 90000)) 3 0 0 0 0" "n2 $((now - 300)) $((now - 100)) 0 0 0 2 1" "gone $now $now 0 0 0 0 0" |
    "$fill" "sqlite:$dir/all.db" nodes || exit 99
cluster 0 --ledger "sqlite:$dir/all.db"
has '2 nodes: 2 ok NODE BERTH SLURM HEARD UP STEPS MISSED n1 ok mixed 0:2'
has ' 1-01:00:0'
grep -q '^n2 .* 0  *1$' "$dir/out" || bad 'a launch without berth' 1 "$(cat "$dir/out")"
! grep -q gone "$dir/out" || bad 'a node that Slurm does not have' 'no row' "$(cat "$dir/out")"

# those on which berth does nothing come first, whatever their names
sinfo_says 'a1|mixed' 'b1|idle' 'c1|down*' 'd1|idle' 'e1|allocated' 'a-name-that-is-long|idle'
printf '%s\n' "a1 $now $((now - 60)) 1 0 0 0 0" "b1 $((now - 3600)) $((now - 9000)) 1 0 0 0 0" "d1 $now $now 0 1 0 0 0" "e1 $now $now 4 0 1 0 0" \
    "a-name-that-is-long $now $now 4 0 0 3 0" | "$fill" "sqlite:$dir/all.db" nodes || exit 99
cluster 1 --ledger "sqlite:$dir/all.db"
has '6 nodes: 1 silent 1 released 1 not allowed 1 refuses 1 down 1 ok NODE '
[ "$(sed '1,2d; /:/!d' "$dir/out" | cut -d' ' -f1 | head -n 4 | paste -s -d' ')" = 'b1 d1 e1 a-name-that-is-long' ] || bad 'the order' 'trouble first' "$(cat "$dir/out")"
has 'b1 silent idle 1:00:0'
has 'released: by root, new steps stay where Slurm puts them; berthctl release --end there takes it back not allowed: '
has 'c1 down down* - - - 0'
cluster 1 --json --ledger "sqlite:$dir/all.db"
for field in '{"name":"a1","slurm":"mixed","silent":false,"places":true,"berth_is":"ok","heard_s":' '"steps":1.0,"berth":"0.1.0","missed":0,"why":null}' '"name":"b1","slurm":"idle","silent":true,"places":false,"berth_is":"silent",'; do
    grep -qF -e "$field" "$dir/out" || bad 'status --cluster --json' "$field" "$(cat "$dir/out")"
done

# ten thousand nodes, each of two partitions, in no order, of which every hundredth has told something
seq 10000 | sed 's/.*/m&|idle/; h; G' | sort -R >"$dir/slurm/says"
seq 100 100 10000 | sort -R | awk -v now="$now" '{print "m" $1, now, now, 1, 0, 0, 0, 0}' | "$fill" "sqlite:$dir/many.db" nodes || exit 99
cluster 1 --ledger "sqlite:$dir/many.db"
has '10000 nodes: 9900 silent 100 ok NODE '
[ "$(grep -c '^m[0-9]* .* idle ' "$dir/out")" = 10000 ] || bad 'ten thousand nodes' 'a row each' "$(wc -l <"$dir/out") lines"
[ "$(grep -c '^m[0-9]*00  *ok' "$dir/out")" = 100 ] || bad 'ten thousand nodes' 'each with its own news' "$(tail -n 101 "$dir/out")"

# without Slurm's word the nodes that told something are shown, and that is said
printf '#!/bin/sh\nexit 1\n' >"$dir/slurm/sinfo"
cluster 1 --ledger "sqlite:$dir/all.db"
has 'sinfo does not answer: nodes that never told anything are not shown'
has 'gone ok - '
exit $failed
