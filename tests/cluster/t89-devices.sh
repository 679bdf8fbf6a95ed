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
