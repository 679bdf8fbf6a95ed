# SPDX-License-Identifier: GPL-2.0-or-later
# What a site takes over from here: the dashboard, Prometheus' samples, and what completes berthctl's words in shells.
grafanadir = $(pkgdatadir)/grafana
dist_grafana_DATA = contrib/grafana/berth.json

prometheusdir = $(pkgdatadir)/prometheus
dist_prometheus_DATA = contrib/prometheus/berth.yml contrib/prometheus/berth-rules.yml

# Each shell looks for one file a command, named as it wants it, in its own folder below share.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_bashcompletion_DATA =
dist_zshcompletion_DATA =
dist_fishcompletion_DATA =
