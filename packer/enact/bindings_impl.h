/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bindings_impl - what the stage of bindings.h holds; for its own files only. */
#ifndef BERTH_ENACT_BINDINGS_IMPL_H
#define BERTH_ENACT_BINDINGS_IMPL_H

struct bindings {
    double due_s; /* CLOCK_MONOTONIC, of the next look */
};

#endif
