/* SPDX-License-Identifier: GPL-2.0-or-later */
/* siphash - SipHash-2-4 (Aumasson and Bernstein 2012): a hash of short texts that nobody can
 * foresee, or aim at, who does not have the key. */
#ifndef BERTH_BASE_SIPHASH_H
#define BERTH_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define SIPHASH_KEY 16 /* bytes */

/* Returns the hash of so many bytes. */
uint64_t siphash(const uint8_t key[SIPHASH_KEY], const void *bytes, size_t length);

#endif
