# SPDX-License-Identifier: GPL-2.0-or-later
# common
libctl_la_SOURCES += \
	packer/cli/common/client.c \
	packer/cli/common/ctl.c packer/cli/common/ctl.h \
	packer/cli/common/drawing.c packer/cli/common/drawing.h \
	packer/cli/common/drawing_svg.c \
	packer/cli/common/input.c packer/cli/common/input.h \
	packer/cli/common/job_id.c packer/cli/common/job_id.h \
	packer/cli/common/options.c packer/cli/common/options.h \
	packer/cli/common/print.c \
	packer/cli/common/program.c packer/cli/common/program.h \
	packer/cli/common/say.c \
	packer/cli/common/screen.c packer/cli/common/screen.h \
	packer/cli/common/store.c packer/cli/common/store.h \
	packer/cli/common/users.c packer/cli/common/users.h
# plan
libctl_la_SOURCES += \
	packer/cli/plan/apps.c packer/cli/plan/apps.h \
	packer/cli/plan/matrix.c packer/cli/plan/matrix.h \
	packer/cli/plan/observed.c packer/cli/plan/observed.h \
	packer/cli/plan/pairs.c packer/cli/plan/pairs.h \
	packer/cli/plan/plan.c packer/cli/plan/plan.h \
	packer/cli/plan/policy.c \
	packer/cli/plan/predict.c packer/cli/plan/predict.h \
	packer/cli/plan/print.c \
	packer/cli/plan/read.c \
	packer/cli/plan/samples.c \
	packer/cli/plan/siblings.c packer/cli/plan/siblings.h \
	packer/cli/plan/stored.c packer/cli/plan/stored.h
# model
libctl_la_SOURCES += \
	packer/cli/model/adapt.c \
	packer/cli/model/cohort.c \
	packer/cli/model/contend.c \
	packer/cli/model/di.c \
	packer/cli/model/dramon.c \
	packer/cli/model/edp.c \
	packer/cli/model/faithful.c \
	packer/cli/model/flexthread.c \
	packer/cli/model/locality.c \
	packer/cli/model/matching.c \
	packer/cli/model/model.c \
	packer/cli/model/models.h \
	packer/cli/model/nucore.c packer/cli/model/nucore_proof.h \
	packer/cli/model/numa.c packer/cli/model/numa.h \
	packer/cli/model/pairs.c \
	packer/cli/model/reinforce.c \
	packer/cli/model/prefetch.c \
	packer/cli/model/shuffle.c \
	packer/cli/model/steal.c \
	packer/cli/model/thermal.c \
	packer/cli/model/opticore.c \
	packer/cli/model/throttle.c \
	packer/cli/model/tranquil.c
if GLPK
libctl_la_SOURCES += packer/cli/model/nucore_proof.c
else
libctl_la_SOURCES += packer/cli/model/nucore_noproof.c
endif
# profile
libctl_la_SOURCES += \
	packer/cli/profile/args.c \
	packer/cli/profile/pair_predict.c packer/cli/profile/pair_predict.h \
	packer/cli/profile/pairs.c \
	packer/cli/profile/print.c \
	packer/cli/profile/profile.c packer/cli/profile/profile.h \
	packer/cli/profile/store.c packer/cli/profile/store.h \
	packer/cli/profile/transfer.c \
	packer/cli/profile/verb.c
# threads
libctl_la_SOURCES += \
	packer/cli/threads/args.c \
	packer/cli/threads/census.c packer/cli/threads/census.h \
	packer/cli/threads/dry_run.c \
	packer/cli/threads/keep.c \
	packer/cli/threads/probe.c packer/cli/threads/probe.h \
	packer/cli/threads/sweep.c \
	packer/cli/threads/threads.h \
	packer/cli/threads/verb.c
# calibrate
libctl_la_SOURCES += \
	packer/cli/calibrate/adapt.c \
	packer/cli/calibrate/calibrate.c packer/cli/calibrate/calibrate.h \
	packer/cli/calibrate/fit.c packer/cli/calibrate/fit.h \
	packer/cli/calibrate/measure.c packer/cli/calibrate/measure.h \
	packer/cli/calibrate/places.c packer/cli/calibrate/places.h \
	packer/cli/calibrate/print.c \
	packer/cli/calibrate/run.c packer/cli/calibrate/run.h
# the verbs
libctl_la_SOURCES += \
	packer/cli/blackboard.c \
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
berthctl_LDADD = libctl.la $(PACKER_LIBS)

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
