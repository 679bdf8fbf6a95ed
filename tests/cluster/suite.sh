# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# suite - most tests move shells, which berthd leaves alone by default: t15 has what it does by default.
CLUSTER_BERTHD_CONF+=(move=all)
# t16 asks for GPUs, which are no real ones.
CLUSTER_SLURM_CONF+=$'\nGresTypes=gpu'
CLUSTER_NODE_CONF+=" Gres=gpu:2"
# Slurm ties them to the cores 0 and 1; from 24.11 on it refuses what is not a whole socket, and gives the first that is free.
cluster_prepare() {
    local cores=Cores=
    printf '%s\n24.11\n' "$(slurmd -V | sed 's/.* //')" | sort -VC || cores=
    printf 'Name=gpu File=/dev/null %s\nName=gpu File=/dev/zero %s\n' "${cores:+${cores}0}" "${cores:+${cores}1}" >"$CLUSTER/etc/gres.conf"
}
