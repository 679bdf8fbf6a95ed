# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# suite - DI places here where a test says nothing else: miss rates alone tell who belongs where. Sourced by tests/cluster/run after
# cluster.sh.
CLUSTER_BERTHD_CONF=(policy=di move=all idle=off) # the tests move shells; t65 has idle cores
