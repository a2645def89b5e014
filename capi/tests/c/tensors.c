/* A sparse tensor: built from arrays, written to the file given as the argument and read again; MTTKRP and CP with
 * published numbers; and refused calls. Prints "ok" and exits with 0, or prints the failing line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sparring.h"

static void expect(int holds, const char *what, int line)
{
    if (!holds) {
        fprintf(stderr, "tensors.c:%d: not so: %s (last error: \"%s\")\n", line, what, sparring_last_error());
        exit(EXIT_FAILURE);
    }
}
#define EXPECT(x) expect((x) ? 1 : 0, #x, __LINE__)
#define OK(call) EXPECT((call) == SPARRING_OK)
#define EXPECT_ERROR(call, status, words)                     \
    do {                                                      \
        EXPECT((call) == (status));                           \
        EXPECT(strstr(sparring_last_error(), words) != NULL); \
    } while (0)

enum { NNZ = 11, RANK = 2 };

/* GenTen's unit test, 2 x 3 x 4 and exactly of rank 2. */
static const uint64_t dims[] = {2, 3, 4};
static const uint64_t first[NNZ] = {0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1};
static const uint64_t second[NNZ] = {0, 0, 1, 1, 2, 0, 2, 0, 0, 1, 1};
static const uint64_t third[NNZ] = {0, 0, 0, 0, 0, 1, 1, 3, 3, 3, 3};
static const double values[NNZ] = {2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const double start0[] = {.8, .5, .2, .5}, start1[] = {.5, .5, .1, .5, .5, .1};
static const double start2[] = {.7, .7, .7, .1, .1, .1, .1, .7};

static int near(double x, double y, double tolerance) { return x - y <= tolerance && y - x <= tolerance; }

/* Through a file, and back into arrays. */
static void files(const SparringDevice *cpu, const SparringTensor *x, const char *path)
{
    SparringTensor *again = NULL, *summed = NULL, *twice = NULL;
    SparringTensorReadOptions options = {0};
    SparringWriteOptions symmetric = {1, 0};
    uint64_t lengths[3] = {0}, list[NNZ], order = 0, nnz = 0;
    uint64_t *lists[] = {NULL, list, NULL};
    double found[NNZ];
    const uint64_t same[] = {1, 1}, larger[] = {2, 3, 9};
    const uint64_t *places[] = {same, same};
    const double halves[] = {.5, 1.5};

    OK(sparring_tensor_write(cpu, x, path, NULL));
    EXPECT_ERROR(sparring_tensor_write(cpu, x, path, &symmetric), SPARRING_ARGUMENT, "options.symmetric: ");
    options.duplicates = SPARRING_DUPLICATES_REFUSE;
    OK(sparring_tensor_read(cpu, SPARRING_F64, path, &options, &again));
    OK(sparring_tensor_order(again, &order));
    OK(sparring_tensor_nnz(again, &nnz));
    OK(sparring_tensor_dims(again, lengths, 3));
    EXPECT(order == 3 && nnz == NNZ && memcmp(lengths, dims, sizeof dims) == 0);
    OK(sparring_tensor_copy(again, (uint64_t *const *)lists, found, NNZ));
    EXPECT(memcmp(list, second, sizeof second) == 0 && memcmp(found, values, sizeof values) == 0);
    EXPECT_ERROR(sparring_tensor_copy(again, lists, NULL, NNZ - 1), SPARRING_LENGTH, "indices: length is 10, expected 11");
    EXPECT_ERROR(sparring_tensor_dims(again, lengths, 2), SPARRING_LENGTH, "dims: length is 2, expected 3");
    OK(sparring_tensor_free(again));
    options.dims = larger;
    options.order = 3;
    OK(sparring_tensor_read(cpu, SPARRING_F64, path, &options, &again));
    OK(sparring_tensor_dims(again, lengths, 3));
    EXPECT(lengths[2] == 9);
    options.max_bytes = 5;
    EXPECT_ERROR(sparring_tensor_read(cpu, SPARRING_F64, path, &options, &summed), SPARRING_BUDGET, "the budget is 5 bytes");
    EXPECT_ERROR(sparring_tensor_read(cpu, SPARRING_F64, "no/such/file.tns", NULL, &summed), SPARRING_IO, "no/such/file.tns");

    OK(sparring_tensor_from_coo(SPARRING_F64, 2, dims, places, halves, 2, &twice));
    OK(sparring_tensor_summed(cpu, twice, &summed));
    OK(sparring_tensor_nnz(summed, &nnz));
    OK(sparring_tensor_copy(summed, NULL, found, 1));
    EXPECT(nnz == 1 && found[0] == 2);
    OK(sparring_tensor_free(again));
    OK(sparring_tensor_free(summed));
    OK(sparring_tensor_free(twice));
}

/* Each mode with each variant. */
static void products(const SparringDevice *cpu, const SparringTensor *x)
{
    static const double expected[3][8] = {
        {1.88, 1.88, .48, 1.4}, {1.92, 1.8, .8, 1.4, 1.12, .4}, {1.4, 1.3, .8, .3, 0, 0, .6, 1}};
    const void *factors[] = {start0, start1, start2};
    for (uint64_t mode = 0; mode < 3; mode++) {
        for (uint32_t variant = SPARRING_MTTKRP_AUTO; variant <= SPARRING_MTTKRP_SINGLE; variant++) {
            double out[8];
            OK(sparring_mttkrp(cpu, x, RANK, factors, mode, variant, out, 8));
            for (uint64_t i = 0; i < dims[mode] * RANK; i++)
                EXPECT(near(out[i], expected[mode][i], 1e-14));
        }
    }
    /* Prepared once, for every mode; the same numbers. */
    for (uint32_t variant = SPARRING_MTTKRP_AUTO; variant <= SPARRING_MTTKRP_LINEAR; variant++) {
        SparringMttkrp *plan = NULL;
        char words[300];
        uint64_t length = 0;
        double out[8];
        OK(sparring_mttkrp_new(cpu, x, RANK, variant, &plan));
        OK(sparring_mttkrp_explain(plan, words, sizeof words, &length));
        EXPECT(length > 0 && strncmp(words, "mttkrp: ", 8) == 0);
        for (uint64_t turn = 0; turn < 6; turn++) {
            uint64_t mode = turn % 3;
            OK(sparring_mttkrp_run(plan, RANK, factors, mode, out, 8));
            for (uint64_t i = 0; i < dims[mode] * RANK; i++)
                EXPECT(near(out[i], expected[mode][i], 1e-14));
        }
        EXPECT_ERROR(sparring_mttkrp_run(plan, RANK + 1, factors, 0, out, 8), SPARRING_ARGUMENT, "rank: 3, the plan is for");
        EXPECT_ERROR(sparring_mttkrp_run(plan, RANK, factors, 3, out, 8), SPARRING_ARGUMENT, "mode: 3 of a tensor of 3");
        EXPECT_ERROR(sparring_mttkrp_run(plan, RANK, factors, 1, out, 5), SPARRING_LENGTH, "out: length is 5, expected 6");
        OK(sparring_mttkrp_free(plan));
        EXPECT_ERROR(sparring_mttkrp_run(plan, RANK, factors, 0, out, 8), SPARRING_INVALID_HANDLE, "freed, or never one");
    }
    {
        double out[4];
        EXPECT_ERROR(sparring_mttkrp(cpu, x, RANK, factors, 1, 0, out, 4), SPARRING_LENGTH, "out: length is 4, expected 6");
        EXPECT_ERROR(sparring_mttkrp(cpu, x, RANK, factors, 3, 0, out, 4), SPARRING_ARGUMENT, "mode: 3 of a tensor of 3");
        EXPECT_ERROR(sparring_mttkrp(cpu, x, RANK, factors, 0, 8, out, 4), SPARRING_ARGUMENT, "variant: 8");
        factors[2] = NULL;
        EXPECT_ERROR(sparring_mttkrp(cpu, x, RANK, factors, 0, 0, out, 4), SPARRING_NULL_POINTER, "factors[2] is NULL");
    }
}

/* Values of another type: stored, summed, cast, multiplied, and refused where doubles are required. */
static void integers(const SparringDevice *cpu, const char *path)
{
    const uint64_t two[] = {2, 2}, i[] = {1, 0, 1}, j[] = {1, 0, 1};
    const uint64_t *places[] = {i, j};
    const int16_t entries[] = {300, 7, -1}, row[] = {10, 100};
    const void *factors[] = {NULL, row};
    int16_t found[2] = {0, 0};
    uint32_t type = 0;
    double weights[1], a[2], b[2];
    double *model[] = {a, b};
    SparringCpFit fit;
    SparringTensor *x = NULL, *summed = NULL, *none = NULL;

    OK(sparring_tensor_from_coo(SPARRING_I16, 2, two, places, entries, 3, &x));
    OK(sparring_tensor_type(x, &type));
    EXPECT(type == SPARRING_I16);
    OK(sparring_tensor_summed(cpu, x, &summed));
    OK(sparring_tensor_copy(summed, NULL, found, 2));
    EXPECT(found[0] == 7 && found[1] == 299);
    OK(sparring_mttkrp(cpu, x, 1, factors, 0, SPARRING_MTTKRP_AUTO, found, 2));
    EXPECT(found[0] == 70 && found[1] == 29900);
    EXPECT_ERROR(sparring_mttkrp(cpu, x, 1, factors, 0, SPARRING_MTTKRP_COPIES, found, 2), SPARRING_UNSUPPORTED, "variant");
    EXPECT_ERROR(sparring_tensor_cast(x, SPARRING_U8, 0, &none), SPARRING_UNSUPPORTED, "300");
    EXPECT_ERROR(sparring_cp_als(cpu, x, 1, NULL, weights, model, &fit, NULL, 0, NULL), SPARRING_TYPE, "SPARRING_I16");
    OK(sparring_tensor_write(cpu, x, path, NULL));
    OK(sparring_tensor_read(cpu, SPARRING_I32, path, NULL, &none));
    OK(sparring_tensor_type(none, &type));
    EXPECT(type == SPARRING_I32);
    OK(sparring_tensor_free(none));
    none = NULL;
    EXPECT_ERROR(sparring_tensor_read(cpu, 77, path, NULL, &none), SPARRING_ARGUMENT, "type: 77");
    EXPECT_ERROR(sparring_tensor_from_coo(0, 2, two, places, entries, 3, &none), SPARRING_ARGUMENT, "type: 0");
    EXPECT(none == NULL);
    OK(sparring_tensor_free(x));
    OK(sparring_tensor_free(summed));
}

struct seen {
    uint64_t sweeps, stop;
    double fit;
};

static int32_t watch(const SparringSweep *sweep, void *context)
{
    struct seen *seen = context;
    seen->sweeps++;
    seen->fit = sweep->fit;
    return sweep->number == seen->stop;
}

/* Fits after given numbers of sweeps from the initial guess above. */
static void decompositions(const SparringDevice *cpu, const SparringTensor *x)
{
    static const struct { uint64_t sweeps; double fit; } published[] = {{1, .932788856502}, {2, .984366843905},
        {3, .992954863337}, {5, .997046348153}, {10, .999295506077}, {20, .999956708723}};
    double weights[RANK], a[4], b[6], c[8];
    double *factors[] = {a, b, c};
    SparringCpOptions options = {0};
    SparringCpFit fit;
    struct seen seen = {0, 0, 0};
    char words[300];
    uint64_t length = 0;

    options.warm_start = 1;
    options.all_sweeps = 1;
    options.on_sweep = watch;
    options.context = &seen;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        weights[0] = weights[1] = 1;
        memcpy(a, start0, sizeof a);
        memcpy(b, start1, sizeof b);
        memcpy(c, start2, sizeof c);
        seen.sweeps = 0;
        options.sweeps = published[i].sweeps;
        OK(sparring_cp_als(cpu, x, RANK, &options, weights, factors, &fit, words, sizeof words, &length));
        EXPECT(near(fit.fit, published[i].fit, 1e-11) && fit.fit == seen.fit);
        EXPECT(fit.sweeps == published[i].sweeps && seen.sweeps == fit.sweeps && !fit.converged);
        EXPECT(length > 0 && strncmp(words, "mttkrp: ", 8) == 0);
    }
    EXPECT(near(weights[0], 2.82859275, 1e-8) && near(weights[1], 1.99983436, 1e-8));
    EXPECT(near(a[0] * a[0] + a[2] * a[2], 1, 1e-14) && near(c[1] * c[1] + c[3] * c[3] + c[5] * c[5] + c[7] * c[7], 1, 1e-14));
    /* Both components, the larger first: (1 1)/sqrt 2 and (1 0). */
    EXPECT(near(a[0], .70710678, 5e-3) && near(a[2], .70710678, 5e-3) && near(a[1], 1, 5e-3) && near(a[3], 0, 5e-3));
    seen.stop = 3;
    OK(sparring_cp_als(cpu, x, RANK, &options, weights, factors, &fit, NULL, 0, NULL));
    EXPECT(fit.sweeps == 3 && !fit.converged);

    EXPECT_ERROR(sparring_cp_als(cpu, x, 0, NULL, weights, factors, &fit, NULL, 0, NULL), SPARRING_ARGUMENT, "rank: 0");
    options.ridge = -1;
    EXPECT_ERROR(sparring_cp_als(cpu, x, RANK, &options, weights, factors, &fit, NULL, 0, NULL), SPARRING_ARGUMENT,
                 "options.ridge: -1");
    factors[1] = NULL;
    EXPECT_ERROR(sparring_cp_als(cpu, x, RANK, NULL, weights, factors, &fit, NULL, 0, NULL), SPARRING_NULL_POINTER,
                 "factors[1] is NULL");
}

/* All ones: components coincide, and the systems are singular. */
static void singular(const SparringDevice *cpu)
{
    const uint64_t lengths[] = {3, 3, 3};
    uint64_t i[27], j[27], k[27];
    const uint64_t *lists[] = {i, j, k};
    double ones[27], weights[4], a[12], b[12], c[12];
    double *factors[] = {a, b, c};
    SparringTensor *x = NULL;
    SparringCpOptions options = {0};
    SparringCpFit fit;
    for (uint64_t e = 0; e < 27; e++) {
        i[e] = e / 9;
        j[e] = e / 3 % 3;
        k[e] = e % 3;
        ones[e] = 1;
    }
    OK(sparring_tensor_from_coo(SPARRING_F64, 3, lengths, lists, ones, 27, &x));
    options.seed = 7;
    OK(sparring_cp_als(cpu, x, 4, &options, weights, factors, &fit, NULL, 0, NULL));
    EXPECT(near(fit.fit, 1, 1e-7) && fit.singular > 0 && fit.converged);
    for (int r = 0; r < 4; r++)
        EXPECT(near(weights[r], 1.29903811, 1e-7));
    OK(sparring_tensor_free(x));
}

int main(int argc, char **argv)
{
    const uint64_t *indices[] = {first, second, third}, *wrong[] = {first, second, NULL};
    const uint64_t narrow[] = {2, 3, 3};
    SparringDevice *cpu = NULL, *little = NULL;
    SparringTensor *x = NULL, *none = NULL;
    double out[4];
    const void *factors[] = {start0, start1, start2};

    EXPECT(argc == 2);
    OK(sparring_device_new("cpu", 2, 0, &cpu));
    OK(sparring_tensor_from_coo(SPARRING_F64, 3, dims, indices, values, NNZ, &x));
    EXPECT_ERROR(sparring_tensor_from_coo(SPARRING_F64, 3, narrow, indices, values, NNZ, &none), SPARRING_INDEX_RANGE,
                 "indices[2][7] is 3, not below dims[2], which is 3");
    EXPECT_ERROR(sparring_tensor_from_coo(SPARRING_F64, 0, dims, indices, values, NNZ, &none), SPARRING_ARGUMENT, "order: ");
    EXPECT_ERROR(sparring_tensor_from_coo(SPARRING_F64, 3, dims, wrong, values, NNZ, &none), SPARRING_NULL_POINTER, "indices[2] is NULL");
    EXPECT_ERROR(sparring_tensor_nnz((const SparringTensor *)(const void *)cpu, NULL), SPARRING_INVALID_HANDLE, "SparringTensor");
    EXPECT(none == NULL);
    files(cpu, x, argv[1]);
    products(cpu, x);
    decompositions(cpu, x);
    singular(cpu);
    integers(cpu, argv[1]);
    OK(sparring_device_new("cpu", 1, 150, &little));
    EXPECT_ERROR(sparring_mttkrp(little, x, RANK, factors, 0, 0, out, 4), SPARRING_BUDGET, "the budget is");
    OK(sparring_device_free(little));
    OK(sparring_tensor_free(x));
    OK(sparring_tensor_free(NULL));
    EXPECT_ERROR(sparring_tensor_free(x), SPARRING_INVALID_HANDLE, "freed, or never one");
    OK(sparring_device_free(cpu));
    EXPECT(sparring_handles_alive() == 0);
    puts("ok");
    return EXIT_SUCCESS;
}
