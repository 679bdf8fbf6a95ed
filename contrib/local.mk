# SPDX-License-Identifier: GPL-2.0-or-later
# What a site takes over from here: the dashboard and Prometheus' samples.
grafanadir = $(pkgdatadir)/grafana
dist_grafana_DATA = contrib/grafana/berth.json

prometheusdir = $(pkgdatadir)/prometheus
dist_prometheus_DATA = contrib/prometheus/berth.yml contrib/prometheus/berth-rules.yml

include contrib/packages/local.mk
