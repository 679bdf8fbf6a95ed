# SPDX-License-Identifier: GPL-2.0-or-later
# What a site takes over from here: the dashboard, Prometheus' samples and policies of its own.
grafanadir = $(pkgdatadir)/grafana
dist_grafana_DATA = contrib/grafana/berth.json

prometheusdir = $(pkgdatadir)/prometheus
dist_prometheus_DATA = contrib/prometheus/berth.yml contrib/prometheus/berth-rules.yml

# Samples of a site's own policy over berthd's socket (berth-protocol(7), PROPOSE).
policiesdir = $(pkgdatadir)/policies
dist_policies_DATA = contrib/policies/berth_policy.py
dist_policies_SCRIPTS = contrib/policies/policies.py

include contrib/packages/local.mk
