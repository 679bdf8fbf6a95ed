# SPDX-License-Identifier: GPL-2.0-or-later
# libctl: what the verbs of berthctl share, those of lab/ and probe/ as well. libverbs: all other verbs.
noinst_LTLIBRARIES += libctl.la libverbs.la
CTL_LIBS = libverbs.la liblab.la libprobe.la libctl.la
# options: command lines, also of berth-steer
libctl_la_SOURCES = \
	packer/cli/options/complaint.c packer/cli/options/complaint.h \
	packer/cli/options/options.c packer/cli/options/options.h \
	packer/cli/options/terminal.c packer/cli/options/terminal.h
# common
libctl_la_SOURCES += \
	packer/cli/common/client.c \
	packer/cli/common/complete.c packer/cli/common/complete.h \
	packer/cli/common/ctl.c packer/cli/common/ctl.h \
	packer/cli/common/drawing.c packer/cli/common/drawing.h \
	packer/cli/common/drawing_svg.c \
	packer/cli/common/input.c packer/cli/common/input.h \
	packer/cli/common/job_id.c packer/cli/common/job_id.h \
	packer/cli/common/part.c \
	packer/cli/common/pieces.c packer/cli/common/pieces.h \
	packer/cli/common/print.c \
	packer/cli/common/program.c packer/cli/common/program.h \
	packer/cli/common/say.c \
	packer/cli/common/screen.c packer/cli/common/screen.h \
	packer/cli/common/store.c packer/cli/common/store.h \
	packer/cli/common/users.c packer/cli/common/users.h \
	packer/cli/common/verb.c packer/cli/common/verb.h \
	packer/cli/common/verbs.h
# the verbs, and what they share: a room each
libverbs_la_SOURCES =
# find: where what is told of a step, a job or a node is found
libverbs_la_SOURCES += \
	packer/cli/find/find.c packer/cli/find/find.h \
	packer/cli/find/find_ledger.c packer/cli/find/find_ledger.h \
	packer/cli/find/job_raw.c packer/cli/find/job_raw.h \
	packer/cli/find/records.c packer/cli/find/records.h \
	packer/cli/find/remote.c packer/cli/find/remote.h \
	packer/cli/find/slurm_job.c packer/cli/find/slurm_job.h \
	packer/cli/find/untold.c packer/cli/find/untold.h packer/cli/find/untold.def
# explain: what berth did with a step, with a job
libverbs_la_SOURCES += \
	packer/cli/explain/course_plot.c packer/cli/explain/course_plot.h \
	packer/cli/explain/explain.c \
	packer/cli/explain/explain_inside.c packer/cli/explain/explain_inside.h \
	packer/cli/explain/explain_summary.c packer/cli/explain/explain_summary.h \
	packer/cli/explain/job.c \
	packer/cli/explain/job_hint.c \
	packer/cli/explain/job_sum.c packer/cli/explain/job_sum.h \
	packer/cli/explain/loss.c packer/cli/explain/loss.h
# node: the node, or all of them
libverbs_la_SOURCES += \
	packer/cli/node/blackboard.c \
	packer/cli/node/cluster.c packer/cli/node/cluster.h \
	packer/cli/node/outage.c packer/cli/node/outage.h \
	packer/cli/node/release.c \
	packer/cli/node/silence.c packer/cli/node/silence.h \
	packer/cli/node/status.c packer/cli/node/status.h \
	packer/cli/node/steps_table.c packer/cli/node/steps_table.h \
	packer/cli/node/top.c \
	packer/cli/node/verdict.c packer/cli/node/verdict.h
# doctor: what works here
libverbs_la_SOURCES += \
	packer/cli/doctor/doctor.c packer/cli/doctor/doctor.h \
	packer/cli/doctor/doctor_berthd.c \
	packer/cli/doctor/doctor_daemons.c \
	packer/cli/doctor/doctor_hardware.c \
	packer/cli/doctor/doctor_movers.c \
	packer/cli/doctor/doctor_rows.c \
	packer/cli/doctor/doctor_slurm.c \
	packer/cli/doctor/doctor_trial.c
# report: what ended steps have cost
libverbs_la_SOURCES += \
	packer/cli/report/report.c packer/cli/report/report.h \
	packer/cli/report/report_args.c \
	packer/cli/report/report_write.c packer/cli/report/report_write.h
# record: what steps do to the machine, into a file
libverbs_la_SOURCES += \
	packer/cli/record/record.c \
	packer/cli/record/record_file.c packer/cli/record/record_file.h \
	packer/cli/record/record_lines.c packer/cli/record/record_lines.h

bin_PROGRAMS += berthctl
berthctl_SOURCES = packer/cli/berthctl.c packer/cli/completion.c
berthctl_LDADD = libverbs.la libctl.la $(PACKER_LIBS)

# what shells complete by
nodist_bashcompletion_DATA = completions/bash/berthctl
nodist_zshcompletion_DATA = completions/zsh/_berthctl
nodist_fishcompletion_DATA = completions/fish/berthctl.fish
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
COMPLETIONS = $(nodist_bashcompletion_DATA) $(nodist_zshcompletion_DATA) $(nodist_fishcompletion_DATA)
CLEANFILES += $(COMPLETIONS)

$(COMPLETIONS): $(BERTHCTL)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && shell=$(@D) && $(BERTHCTL) completion $${shell#completions/} >$@.new && mv $@.new $@
