# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tasks of libberth_tasks on real memory nodes: by themselves, without Slurm.

t54_tasks_run_where_their_matrices_lie() {
    local said status=0
    said=$(timeout 300 "$BUILD/tests/vm/product") || status=$?
    case $status in
    0) ;;
    77) skip "$said" ;;
    *) fail "$said" ;;
    esac
    echo "    $said"
}
