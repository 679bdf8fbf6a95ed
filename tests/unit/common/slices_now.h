/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slices_now - all passes of slices.h through the threads of some processes, one after the other.
 */
#ifndef BERTH_TESTS_SLICES_NOW_H
#define BERTH_TESTS_SLICES_NOW_H

#include "packer/enforce/slices.h"
#include "tests/unit/common/handed.h"

/* Does that to the threads of n processes until nobody has to be changed. seen: the last pass, but
 * for changed: in all of them. 0, or -1 and err. */
static inline int slices_now_known(const struct rootfs *root, size_t n, const pid_t *pid,
                                   enum slices_do what, uint64_t slice_ns,
                                   const struct slices_known *known, struct slices_seen *seen,
                                   struct berth_error *err)
{
    struct enforce enforce;
    size_t changed = 0;
    int rc;

    handed_open(&enforce, root, n, pid);
    do {
        struct slices_pass *pass = slices_pass_new(HANDED_ID, n, pid, what, slice_ns, known);

        if (!pass) {
            enforce_close(&enforce);
            return berth_no_memory(err);
        }
        rc = slices_pass_turn(&enforce, pass, seen, err);
        slices_pass_free(pass);
        changed += seen->changed;
    } while (rc == 0 && seen->changed > 0);
    enforce_close(&enforce);
    seen->changed = changed;
    return rc;
}

/* The same where berth has given no slice, and a thread that has none of its own has the caller's.
 */
static inline int slices_now(const struct rootfs *root, size_t n, const pid_t *pid,
                             enum slices_do what, uint64_t slice_ns, struct slices_seen *seen,
                             struct berth_error *err)
{
    struct slices_known known = {.base_ns = slices_base_ns()};

    return slices_now_known(root, n, pid, what, slice_ns, &known, seen, err);
}

#endif
