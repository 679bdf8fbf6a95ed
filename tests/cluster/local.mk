# SPDX-License-Identifier: GPL-2.0-or-later
# The suite on a real cluster: `tests/run` runs it (as root); `make check` only builds what it needs.
check_PROGRAMS += tests/cluster/answer tests/cluster/apart tests/cluster/attributes tests/cluster/given tests/cluster/latebind tests/cluster/putprofile tests/cluster/teams tests/cluster/tell
tests_cluster_answer_LDADD =
tests_cluster_apart_LDADD =
tests_cluster_attributes_LDADD =
tests_cluster_given_SOURCES = tests/cluster/given.c tests/bench/day_slurm.c tests/bench/day_slurm.h
tests_cluster_given_LDADD = $(PACKER_LIBS)
tests_cluster_latebind_LDADD =
tests_cluster_teams_LDADD =
tests_cluster_tell_LDADD =
tests_cluster_putprofile_LDADD = $(PACKER_LIBS)
dist_noinst_SCRIPTS += contrib/build contrib/demo contrib/install-packages .ci/run tests/run tests/nightly tests/once tests/find-clang tests/cluster/run \
	tests/cluster/beside tests/cluster/stand
EXTRA_DIST += tests/suites tests/suites.sh tests/cluster/checks.sh tests/cluster/cluster.sh tests/cluster/suite.sh tests/cluster/t10-steps.sh \
	tests/cluster/t15-programs.sh tests/cluster/t16-devices.sh tests/cluster/lateteam.c tests/cluster/mpi.sh tests/cluster/t17-ranks.sh tests/cluster/rank.c tests/cluster/t18-cores.sh tests/cluster/t19-slurm.sh tests/cluster/t20-jobs.sh tests/cluster/t21-strangers.sh tests/cluster/t30-faults.sh tests/cluster/t40-daemon.sh tests/cluster/t45-folders.sh tests/cluster/t50-size.sh tests/cluster/t55-login.sh \
	tests/cluster/t60-counters.sh tests/cluster/t62-identity.sh tests/cluster/t70-isolate.sh tests/cluster/t75-energy.sh tests/cluster/t80-share.sh tests/cluster/t85-inside.sh tests/cluster/t86-blackboard.sh \
	tests/cluster/t87-runtime.sh tests/cluster/regions.c tests/cluster/t88-throttle.sh tests/cluster/chunks.c tests/cluster/t89-devices.sh tests/cluster/t90-metrics.sh tests/fixtures/machines/two-cores.json
