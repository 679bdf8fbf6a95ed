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
	packer/cli/common/verb.c packer/cli/common/verb.h
libverbs_la_SOURCES = \
	packer/cli/blackboard.c \
	packer/cli/cluster.c packer/cli/cluster.h \
	packer/cli/course_plot.c packer/cli/course_plot.h \
	packer/cli/doctor.c packer/cli/doctor.h \
	packer/cli/doctor_berthd.c \
	packer/cli/doctor_daemons.c \
	packer/cli/doctor_hardware.c \
	packer/cli/doctor_movers.c \
	packer/cli/doctor_rows.c \
	packer/cli/doctor_slurm.c \
	packer/cli/doctor_trial.c \
	packer/cli/explain.c \
	packer/cli/explain_inside.c packer/cli/explain_inside.h \
	packer/cli/explain_summary.c packer/cli/explain_summary.h \
	packer/cli/find.c packer/cli/find.h \
	packer/cli/find_ledger.c packer/cli/find_ledger.h \
	packer/cli/job.c \
	packer/cli/job_hint.c \
	packer/cli/job_raw.c packer/cli/job_raw.h \
	packer/cli/job_sum.c packer/cli/job_sum.h \
	packer/cli/loss.c packer/cli/loss.h \
	packer/cli/outage.c packer/cli/outage.h \
	packer/cli/record.c \
	packer/cli/record_file.c packer/cli/record_file.h \
	packer/cli/record_lines.c packer/cli/record_lines.h \
	packer/cli/records.c packer/cli/records.h \
	packer/cli/release.c \
	packer/cli/remote.c packer/cli/remote.h \
	packer/cli/report.c packer/cli/report.h \
	packer/cli/report_args.c \
	packer/cli/report_write.c packer/cli/report_write.h \
	packer/cli/silence.c packer/cli/silence.h \
	packer/cli/slurm_job.c packer/cli/slurm_job.h \
	packer/cli/status.c \
	packer/cli/steps_table.c packer/cli/steps_table.h \
	packer/cli/top.c \
	packer/cli/untold.c packer/cli/untold.h packer/cli/untold.def \
	packer/cli/verdict.c packer/cli/verdict.h \
	packer/cli/verbs.h

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
