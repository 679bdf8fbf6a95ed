# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# QOS: one that slurmdbd knows decides who may be isolated.

qos_make() {
    timeout 10 sacctmgr -i add qos gold >/dev/null || return 1
    timeout 10 sacctmgr -i modify user root where account=physics set qos+=gold >/dev/null || return 1
    wait_for 5 qos_known # slurmctld hears of it from slurmdbd
}

qos_known() {
    timeout 10 scontrol show assoc_mgr flags=qos | grep -q 'QOS=gold('
}

isolated() {
    explained "$1" '.place.isolate | "\(.asked) \(.granted) \(.domain)"'
}

t30_a_qos_may_be_isolated() {
    qos_make || fail "no QOS could be made"
    daemon_stop berthd
    berthd_conf grant=isolate:qos=gold
    berthd_start
    knows devil 20000
    start a --qos=gold --account=physics --contention-aware=isolate,tag=devil
    soon "with the QOS" "true true package 0" isolated a # when slurmctld has said which one it is
    same "the QOS, as Slurm has it" "$(timeout 10 squeue -h -j "$(job_of a)" -o %q)" gold
    start b --account=physics --contention-aware=isolate,tag=devil
    soon "its QOS" normal explained b .identity.qos
    same "with another" "$(isolated b)" "true false null"
    has "$(explained b .place.isolate.reason)" "berth.conf names neither"
    stop a b
    batch j -n1 --qos=gold --account=physics --contention-aware=isolate,tag=devil <<<"srun $STAND c"
    running c
    soon "by the QOS of a batch job" "true true package 0" isolated c
    touch "$CLUSTER/out/c.stop"
    finish j
}
