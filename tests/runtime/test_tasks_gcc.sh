#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# gcc's programs, with libgomp, whose tasks are throttled: tasks.sh
compiler=gcc
# shellcheck source=tests/runtime/tasks.sh
. "${srcdir:-.}/tests/runtime/tasks.sh"
