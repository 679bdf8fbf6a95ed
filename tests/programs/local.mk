# SPDX-License-Identifier: GPL-2.0-or-later
# The table of programs as people start them, on a real cluster, as root; its programs are built where it runs.
dist_noinst_SCRIPTS += tests/programs/run
EXTRA_DIST += \
	tests/programs/cells.sh tests/programs/programs.sh tests/programs/table \
	tests/programs/src/Sum.java tests/programs/src/binds.c tests/programs/src/binds.go tests/programs/src/binding.py tests/programs/src/binds.py tests/programs/src/forks.R tests/programs/src/imports.py tests/programs/src/linked.c \
	tests/programs/src/matrix.py tests/programs/src/pool.py tests/programs/src/ranks.c tests/programs/src/remembers.sh tests/programs/src/sum.R \
	tests/programs/src/sum.go tests/programs/src/team.c tests/programs/src/threads.c tests/programs/src/threads.py \
	tests/programs/src/wait.h
