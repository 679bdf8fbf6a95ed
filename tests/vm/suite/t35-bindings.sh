# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# What a program has bound keeps its binding across packages, and has its own back at home.

# The process that runs beside the task of a step: second NAME
second() {
    cat "$CLUSTER/out/second.$(job_of "$1")"
}

# The CPUs that it is bound to: mask NAME
mask() {
    sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$(second "$1")/status"
}

first() { # LIST
    expand "$1" | head -n 1
}

# Binds it to the first CPU that Slurm gave to the step.
bind_first() {
    taskset -cp "$(first "$(slurm_cpus_of "$1")")" "$(second "$1")" >"$CLUSTER/out/taskset" 2>&1 ||
        fail "it cannot be bound: $(cat "$CLUSTER/out/taskset")"
}

bound_compute() {
    bind_first m1
    bind_first m2
    compute
}

t35_a_part_has_its_image_and_is_itself_at_home() {
    local stayed=m1
    # shellcheck disable=SC2016 # the program's own
    program=(bash -c 'sleep 1000 & echo $! >"$0.$SLURM_JOB_ID"; "$@"; kill %1' "$CLUSTER/out/second")
    exchanged bound_compute
    [ "$moved" = m2 ] || stayed=m2
    soon "who was moved" "$(first "$(cpus_of "$moved")")" mask "$moved"
    same "who was not" "$(mask $stayed)" "$(first "$(slurm_cpus_of $stayed)")"
    daemon_stop berthd KILL
    berthd_start
    soon "moved, after berthd was killed" "$(first "$(cpus_of "$moved")")" mask "$moved"
    daemon_stop berthd
    soon "at home" "$(slurm_cpus_of "$moved")" cpus_of "$moved"
    soon "its part" "$(first "$(slurm_cpus_of "$moved")")" mask "$moved"
    same "who was not moved" "$(mask $stayed)" "$(first "$(slurm_cpus_of $stayed)")"
    berthd_start
    stop m1 m2 c1
}
