# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# suite - most tests move shells, which berthd leaves alone by default: t15 has what it does by default.
CLUSTER_BERTHD_CONF+=(move=all)
# t16 asks for GPUs, which are no real ones.
CLUSTER_SLURM_CONF+=$'\nGresTypes=gpu'
CLUSTER_NODE_CONF+=" Gres=gpu:2"
cluster_prepare() { printf 'Name=gpu File=/dev/null Cores=0\nName=gpu File=/dev/zero Cores=1\n' >"$CLUSTER/etc/gres.conf"; }
