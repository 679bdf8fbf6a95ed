# SPDX-License-Identifier: GPL-2.0-or-later
# What wrong inputs say: `make check TESTS=tests/wrong-inputs/run` asks for the words of `table`; its log is the table with the answers.
TESTS += tests/wrong-inputs/run
check_PROGRAMS += tests/wrong-inputs/words
tests_wrong_inputs_words_SOURCES = tests/wrong-inputs/words.c plugin/options.c
dist_noinst_SCRIPTS += tests/wrong-inputs/run
EXTRA_DIST += tests/wrong-inputs/table
