# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The hardware of a step's cores, on a made machine (device_root): the registers that switch prefetchers, and how hot each core is.

# made [KEY=VALUE..]: an Intel of two cores, a package each, of 40 degrees, all prefetchers on; berthd starts with it.
made() {
    local root=$CLUSTER/berth/devices cpu
    rm -rf "$root"
    for cpu in 0 1; do
        mkdir -p "$root/dev/cpu/$cpu" "$root/sys/class/hwmon/hwmon$cpu" "$root/sys/devices/system/cpu/cpu$cpu/topology"
        register "$cpu" 0
        echo coretemp >"$root/sys/class/hwmon/hwmon$cpu/name"
        echo "Package id $cpu" >"$root/sys/class/hwmon/hwmon$cpu/temp1_label"
        echo "Core 0" >"$root/sys/class/hwmon/hwmon$cpu/temp2_label"
        echo 82000 >"$root/sys/class/hwmon/hwmon$cpu/temp2_max"
        echo 100000 >"$root/sys/class/hwmon/hwmon$cpu/temp2_crit"
        heat "$cpu" 40
        echo "$cpu" >"$root/sys/devices/system/cpu/cpu$cpu/topology/physical_package_id"
        echo 0 >"$root/sys/devices/system/cpu/cpu$cpu/topology/core_id"
    done
    mkdir -p "$root/proc"
    printf 'vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 63\n' >"$root/proc/cpuinfo"
    daemon_stop berthd
    berthd_conf startup=100ms first_window=200ms window=200ms "device_root=$root" "$@"
    berthd_start
}

# register CPU VALUE: its low byte.
register() {
    local file=$CLUSTER/berth/devices/dev/cpu/$1/msr
    [ -e "$file" ] || head -c 428 /dev/zero >"$file"
    printf '%b' "\\x0$2" | dd of="$file" bs=1 seek=420 conv=notrunc status=none
}

registers() {
    local cpu
    for cpu in 0 1; do
        od -An -tx1 -j420 -N1 "$CLUSTER/berth/devices/dev/cpu/$cpu/msr" | tr -d '\n'
    done
}

heat() {
    echo "$2"000 >"$CLUSTER/berth/devices/sys/class/hwmon/hwmon$1/temp2_input"
}

# as_fast_without: counters are played: the step "fetch" does 10^9 instructions in each second of CPU time, with and without prefetchers.
as_fast_without() {
    local file=$CLUSTER/berth/fetch.csv
    awk 'BEGIN { print "step,at,cpu_ns,instructions"; for (i = 1; i <= 6000; i++) printf "fetch,%.1f,%.0f,%.0f\n", i / 10, i * 1e8, i * 1e8 }' >"$file"
    made "counters_replay=$file" allow=auto,tag,prefetch "$@"
}

t89_prefetchers_that_do_not_help_are_off_until_the_step_ends() {
    as_fast_without
    start a -c2 --contention-aware=tag=fetch,prefetch=auto
    soon "decided" "off 1 2" explained a '.prefetch | "\(.state) \(.ratio * 100 | round / 100) \(.switched_cores)"'
    same "by" "$(explained a .prefetch.by)" "instructions per CPU second"
    same "registers" "$(registers)" " 0f 0f"
    stop a
    soon "given back" " 00 00" registers
}

t89_a_killed_berthds_registers_are_given_back() {
    as_fast_without
    register 1 4
    start b -c2 --contention-aware=tag=fetch,prefetch=off
    soon "switched" " 0f 0f" registers
    daemon_stop berthd KILL
    stop b
    same "nobody is there" "$(registers)" " 0f 0f"
    berthd_start
    soon "by the next one" " 00 04" registers
}

t89_prefetch_has_to_be_allowed() {
    as_fast_without allow=auto,tag
    start c -c2 --contention-aware=tag=fetch,prefetch=off
    has "$(explained c .prefetch.refused)" "berth.conf does not allow it"
    same "registers" "$(registers)" " 00 00"
    stop c
}

# Two steps of a core each exchange their places: nobody else is there. It is looked at each ten seconds.
t89_who_is_too_hot_goes_elsewhere() {
    made thermal=on
    start d -c1 --contention-aware=auto
    start e -c1 --contention-aware=auto
    local hot
    hot=$(cpus_of d)
    heat "$hot" 97
    wait_for 30 exchanged "$hot" || fail "d is on $(cpus_of d) still: $(explained d .thermal)"
    same "told" "$(explained d '.thermal | "\(.core) \(.celsius) \(.limit) \(.moved_to) \(.moves)"')" "$hot 97 t1 $((1 - hot)) 1"
    soon "the other one" "$hot" cpus_of e
    heat "$hot" 40
    stop d e
}

exchanged() {
    [ "$(cpus_of d)" = $((1 - $1)) ]
}

# ---- a policy of the site's own: contrib/policies ----

# clocked: and each core has a clock of 1.2 to 2.4 GHz.
clocked() {
    local dir cpu
    for cpu in 0 1; do
        dir=$CLUSTER/berth/devices/sys/devices/system/cpu/cpu$cpu/cpufreq
        mkdir -p "$dir"
        echo 1200000 >"$dir/cpuinfo_min_freq"
        echo 2400000 | tee "$dir/cpuinfo_max_freq" >"$dir/scaling_max_freq"
        echo "$cpu" >"$dir/affected_cpus"
    done
}

limits() {
    cat "$CLUSTER"/berth/devices/sys/devices/system/cpu/cpu?/cpufreq/scaling_max_freq | tr '\n' ' '
}

# one_of_two NAME: a step of one core, of a job that has both.
one_of_two() {
    batch "$1.job" -c2 --contention-aware <<END
srun -n1 -c1 --exact --contention-aware=auto $STAND $1
END
    running "$1" || fail "step $1 did not start"
}

end_of_two() {
    touch "$CLUSTER/out/$1.stop"
    finish "$1.job"
}

policy() { # NAME: one look
    BERTH_RUN=$CLUSTER/run PYTHONDONTWRITEBYTECODE=1 python3 "$TESTS/../contrib/policies/policies.py" "$1" 0
}

# proposes NAME CHANGE: what berthd answers to a change of the step, in Python.
proposes() {
    BERTH_RUN=$CLUSTER/run PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TESTS/../contrib/policies python3 -c \
        "from berth_policy import Berth; print(Berth('mine').propose(($(job_of "$1"), 0), $2) or 'done')"
}

t89_a_policy_of_the_sites_own_moves_steps() {
    command -v python3 >/dev/null || skip "no python3"
    made replace=off
    one_of_two p
    local hot
    hot=$(cpus_of p)
    same "nothing is hot" "$(policy screw)" ""
    heat "$hot" 97
    has "$(policy screw)" "($(job_of p), 0) {'cpus': '$((1 - hot))'} done"
    soon "away from the heat" "$((1 - hot))" cpus_of p
    same "told" "$(explained p '.proposed | "\(.by) \(.what) \(.why) \(.changes) \(.refused)"')" "screw cpus null 1 0"
    same "the kernel" "$(kernel_has p)" "$((1 - hot))"
    has "$(policy fcfs)" "{'cpus': '0'} done"
    soon "on the first free core" 0 cpus_of p
    same "what is wrong" "$(proposes p 'cpus="0-1"')" "step $(id_of p): it has 1 core, not 2"
    daemon_stop berthd KILL
    berthd_start
    same "after a kill" "$(cpus_of p)" 0
    end_of_two p
}

t89_a_policys_frequency_ends_with_its_step_and_with_berthd() {
    command -v python3 >/dev/null || skip "no python3"
    made replace=off
    clocked
    daemon_stop berthd
    berthd_start
    start q -c1 --contention-aware=auto
    local its
    its=$(cpus_of q)
    same "it is slowed down" "$(proposes q khz=1500000)" "done"
    same "its clock alone" "$(limits)" "$([ "$its" = 0 ] && echo "1500000 2400000 " || echo "2400000 1500000 ")"
    has "$(proposes q khz=5000000)" "has from 1200000 to 2400000 kHz"
    daemon_stop berthd KILL
    berthd_start
    soon "after a kill" "2400000 2400000 " limits
    same "once more" "$(proposes q khz=1500000)" "done"
    stop q
    soon "at its end" "2400000 2400000 " limits
}

# drawn: counters are played: the step "draws" moves all that the machine's memory gives, "sips" next to nothing.
drawn() {
    local file=$CLUSTER/berth/drawn.csv
    traffic draws 6.1e9 sips 1e8 >"$file"
    cp "$TESTS/fixtures/machines/two-cores.json" "$CLUSTER/berth/machine.json"
    made "counters_replay=$file" allow=auto,tag blackboard=on rcr_hold=2 replace=off
    clocked
    daemon_stop berthd
    berthd_start
    ln -sfn "$CLUSTER/berth/blackboard" "$CLUSTER/run/blackboard"
}

memory_is() {
    timeout 10 "$CLUSTER/bin/berthctl" blackboard --json -n 1 -f "$CLUSTER/berth/blackboard" | jq -r '.sections[] | select(.name == "memory0").state'
}

t89_while_memory_is_saturated_calm_halves_the_clock() {
    command -v python3 >/dev/null || skip "no python3"
    drawn
    start v -c1 --contention-aware=tag=sips
    soon "it draws little" idle memory_is
    same "calm does nothing" "$(policy calm) $(limits)" " 2400000 2400000 "
    start w -c1 --contention-aware=tag=draws
    soon "it draws all" saturated memory_is
    has "$(policy calm)" "($(job_of w), 0) {'khz': 1200000, 'for_s': 30} done"
    same "both cores' clocks" "$(limits)" "1200000 1200000 "
    same "told" "$(explained w '.proposed | "\(.by) \(.what) \(.refused)"')" "calm khz 0"
    stop w
    soon "it draws little again" idle memory_is
    same "calm asks for no more" "$(policy calm)" ""
    stop v
    soon "at their ends" "2400000 2400000 " limits
    machine
}

t89_a_user_may_not_propose() {
    command -v python3 >/dev/null || skip "no python3"
    made
    start r -c1 --contention-aware=auto
    local said
    said=$(runuser -u nobody -- python3 - "$CLUSTER/run/berthd.sock" "$(job_of r)" <<'END'
import json, socket, sys
link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1])
file = link.makefile("rw")
file.write(json.dumps(dict(version=1, op="propose", policy="p", job=int(sys.argv[2]), step=0, cpus="1")) + "\n")
file.flush()
print(json.loads(file.readline())["error"])
END
    )
    same "refused" "$said" "only root and whom berth.conf grants propose may"
    stop r
}
