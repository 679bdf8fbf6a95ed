/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa_json - see numa_json.h */
#include "tests/bench/numa_json.h"

static void print_list(const double *value, size_t n, FILE *out)
{
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%.9g", i ? "," : "[", value[i]);
    fputc(']', out);
}

static void print_vector(const char *name, const double *value, size_t n, FILE *out)
{
    fprintf(out, ",\"%s\":", name);
    print_list(value, n, out);
}

static void print_matrix(const char *name, const double *value, size_t n, FILE *out)
{
    fprintf(out, ",\"%s\":", name);
    for (size_t i = 0; i < n; i++) {
        fputc(i ? ',' : '[', out);
        print_list(value + i * n, n, out);
    }
    fputc(']', out);
}

void numa_json(const struct numa *numa, double limit_s, FILE *out)
{
    const struct numem_machine *machine = &numa->machine;
    const struct numem_program *use = &numa->program.use;
    size_t n = machine->nodes;

    fprintf(out, "{\"nodes\":%zu,\"time_limit_s\":%g,\"cores\":", n, limit_s);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%u", i ? "," : "[", machine->cores[i]);
    fputc(']', out);
    print_vector("alpha", machine->alpha, n, out);
    print_vector("beta", machine->beta, n, out);
    print_matrix("uni_max", machine->uni_max, n, out);
    print_matrix("bi_max", machine->bi_max, n, out);
    print_matrix("read_solo", use->read_solo, n, out);
    print_matrix("write_solo", use->write_solo, n, out);
    fprintf(out, ",\"local_demand\":");
    for (size_t i = 0; i < n; i++) {
        fputc(i ? ',' : '[', out);
        print_list(use->local_demand[i], machine->cores[i] + 1, out);
    }
    fprintf(out, "]}\n");
}
