# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the manual pages and README.md tell people to type is typed beside a job: tests/told has what each command prints.

# told_tools: berthctl, which asks this cluster's berthd, before the other tools in PATH.
told_tools() {
    mkdir -p "$CLUSTER/out/told/bin" "$told_scratch"
    cat >"$CLUSTER/out/told/bin/berthctl" <<END
#!/bin/bash
verb=\$1
[ "\$verb" != profile ] || case \${2:-} in list | show | export | import | forget | demand) verb="\$1 \$2" && shift ;; esac
shift
case \$("$CLUSTER/bin/berthctl" \$verb --help) in
*--db*) here=(--db "$CLUSTER/berth/profiles.db") ;;
*--config*) here=(--config "$CLUSTER/etc/berth.conf") ;;
*--socket*) here=(--socket "$CLUSTER/run/berthd.sock") ;;
*) here=() ;;
esac
exec "$CLUSTER/bin/berthctl" \$verb "\${here[@]}" "\$@"
END
    chmod 755 "$CLUSTER/out/told/bin/berthctl"
    cp "$BUILD/tests/fixtures/programs/turtle" "$CLUSTER/out/told/solver"
    PATH=$CLUSTER/out/told/bin:$PATH USER=root
    export PATH USER
}

# rows_of FILE FIRST: the first words of the lines of the sample that begins with FIRST, numbers as N.
rows_of() {
    awk -v first="$2" 'index($0, first) == 1 { on = 1 } /^\.Ed/ || NF == 0 { on = 0 } on && /^[^ ]/ { print $1 }' "$1" | sed -E 's/[0-9]+/N/g'
}

t90_what_the_pages_tell_is_so() {
    local job busy
    TOLD_SRC=$TESTS/.. told_scratch=$CLUSTER/out/told/scratch
    # shellcheck source=tests/told.sh
    . "$TESTS/told.sh"
    told_tools
    cd "$CLUSTER/out/told"
    timeout 600 srun -n1 -J told --contention-aware ./solver 600s >"$CLUSTER/out/told.said" 2>&1 &
    echo $! >"$CLUSTER/out/told.client"
    wait_for 20 known_job told || fail "no step: $(cat "$CLUSTER/out/told.said")"
    job=$(job_of told)
    taskset -c "$(kernel_has told)" timeout 600 sh -c 'while :; do :; done' &
    busy=$!
    soon "it waits for its CPU" true explained told '.observe.cpu_wait_s > 1'
    COLUMNS=80 berthctl job "$job" | awk '/^[^ ]/ { print $1 }' | sed -E 's/[0-9]+/N/g' | paste -s -d' ' >"$told_scratch/rows"
    for page in man/berth.7 README.md; do
        sed 's/^    //' "$TOLD_SRC/$page" >"$told_scratch/page"
        same "the rows of 'berthctl job 3' in $page" "$(rows_of "$told_scratch/page" 'job 3 ' | paste -s -d' ')" "$(cat "$told_scratch/rows")"
    done
    told_type node "$job" >"$told_scratch/not"
    [ ! -s "$told_scratch/not" ] || fail "$(cat "$told_scratch/not")"
    kill "$busy"
    timeout 10 scancel "$job"
    ended told
}
