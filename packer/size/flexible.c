/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/size/flexible.h"

#include "models/numa/flexthread.h"

/* The paper's: at least 8 of 32 cores; 5 % for uneven load, 5 % for synchronisation; as often as
 * streamcluster synchronises, and as long as it takes there (section 6.6.2). */
#define CORES_PART 4
#define LOSS 0.05
#define SYNC_HZ 667
#define MEMORY_NS 200
#define SYSCALL_NS 2000

size_t flexible_threads(const struct step *step, size_t cores)
{
    const struct wire_options *o = &step->request.options;
    const struct flexthread wanted = {.cores_min = (cores + CORES_PART - 1) / CORES_PART,
                                      .cores_max = cores,
                                      .imbalance = LOSS,
                                      .overhead = LOSS,
                                      .sync_hz = SYNC_HZ,
                                      .memory_ns = MEMORY_NS,
                                      .syscall_ns = SYSCALL_NS};

    if (!o->flex || step->request.user_omp_threads || cores == 0)
        return 0;
    return o->flex_threads ? o->flex_threads : flexthread_count(&wanted, FLEXTHREAD_NOISE);
}
