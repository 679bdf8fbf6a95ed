# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# allocation - a job on a private cluster (tests/cluster/cluster.sh), in which a benchmark runs its steps; sourced by them.

# In an allocation of the whole node, that a sleeping step keeps.
allocate() {
    timeout 20 salloc -Q -n2 --no-shell 2>"$CLUSTER/log/salloc" || return 1
    SLURM_JOB_ID=$(timeout 10 squeue -h -o %i)
    export SLURM_JOB_ID SLURM_JOBID=$SLURM_JOB_ID
}

release() {
    timeout 10 scancel "$SLURM_JOB_ID"
    unset SLURM_JOB_ID SLURM_JOBID
    wait_for 20 no_jobs
}
