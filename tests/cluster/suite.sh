# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# suite - most tests move shells, which berthd leaves alone by default: t15 has what it does by default.
CLUSTER_BERTHD_CONF+=(move=all)
