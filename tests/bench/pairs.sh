# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# pairs - what interleaved pairs of runs say; sourced by benchmarks.

# Lines "WITH WITHOUT" (microseconds) in; out: the medians, the ratio of the medians, its 95 % interval from 2000 bootstrap
# samples of the pairs.
summary() {
    awk '
        function median(value, n,  i, j, v) {
            for (i = 2; i <= n; i++) {
                v = value[i]
                for (j = i - 1; j > 0 && value[j] > v; j--) value[j + 1] = value[j]
                value[j + 1] = v
            }
            return n % 2 ? value[(n + 1) / 2] : (value[n / 2] + value[n / 2 + 1]) / 2
        }
        function ratio(drawn,  i, k, a, b) {
            for (i = 1; i <= NR; i++) { k = drawn ? int(rand() * NR) + 1 : i; a[i] = with[k]; b[i] = without[k] }
            with_median = median(a, NR); without_median = median(b, NR)
            return with_median / without_median
        }
        { with[NR] = $1; without[NR] = $2 }
        END {
            srand(1)
            for (s = 1; s <= 2000; s++) sample[s] = ratio(1)
            median(sample, 2000)
            r = ratio(0)
            printf "%d pairs: median %.1f ms with berth, %.1f ms without; ratio %.3f (95 %%: %.3f to %.3f)\n", \
                NR, with_median / 1000, without_median / 1000, r, sample[50], sample[1951]
        }'
}
