# SPDX-License-Identifier: GPL-2.0-or-later
# scratch.sh - sourced before each test that make runs: the small files of tests are in memory, where programs may run from there and 1 GiB
# is free to be used. On a disk, making folders and waiting for fsync() take most of some tests' time. A TMPDIR that is told stays.
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] && [ -r /proc/mounts ]; then
    while read -r _ at type options _; do
        [ "$at $type" = "/dev/shm tmpfs" ] || continue
        case ,$options, in
        *,noexec,* | *,ro,*) ;;
        *,size=[1-9][0-9][0-9][0-9][0-9][0-9][0-9]*k,*) TMPDIR=/dev/shm && export TMPDIR ;;
        *,size=*) ;;
        *) TMPDIR=/dev/shm && export TMPDIR ;;
        esac
    done </proc/mounts
fi
