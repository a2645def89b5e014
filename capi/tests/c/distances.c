/* Distances and neighbours with numbers worked out by hand, and refused calls. Prints "ok" and exits with 0, or prints
 * the failing line. Results go to uninitialized memory from malloc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sparring.h"

static void expect(int holds, const char *what, int line)
{
    if (!holds) {
        fprintf(stderr, "distances.c:%d: not so: %s (last error: \"%s\")\n", line, what, sparring_last_error());
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

/* All Manhattan distances. */
static void pairwise(const SparringDevice *cpu)
{
    /* (1 0 2 0), (0 3 2 0), (1 0 0 4): 1 + 3, 2 + 4, 1 + 3 + 2 + 4. */
    const uint64_t row_ptr[] = {0, 2, 4, 6}, other_ptr[] = {0, 0, 1}, narrow_ptr[] = {0, 1};
    const uint32_t col_idx[] = {0, 2, 1, 2, 0, 3}, other_idx[] = {1}, narrow_idx[] = {0};
    const double values[] = {1, 2, 3, 2, 1, 4}, other_values[] = {3}, narrow_values[] = {1};
    const double among[] = {0, 4, 6, 4, 0, 10, 6, 10, 0};
    /* To (0 0 0 0) and (0 3 0 0). */
    const double to_others[] = {3, 6, 5, 2, 5, 8};
    const float floats[] = {1, 2, 3, 2, 1, 4};
    const int64_t ints[] = {1, 2, 3, 2, 1, 4};
    SparringMatrix *x = NULL, *y = NULL, *f = NULL, *i = NULL, *narrow = NULL;
    SparringDistanceOptions options = {0};
    double *d = malloc(9 * sizeof *d);
    float *single = malloc(9 * sizeof *single);
    char words[100];
    uint64_t length = 0;
    EXPECT(d != NULL && single != NULL);
    OK(sparring_matrix_from_csr(SPARRING_F64, 3, 4, row_ptr, col_idx, values, 6, &x));
    OK(sparring_matrix_from_csr(SPARRING_F64, 2, 4, other_ptr, other_idx, other_values, 1, &y));
    OK(sparring_matrix_from_csr(SPARRING_F64, 1, 3, narrow_ptr, narrow_idx, narrow_values, 1, &narrow));
    OK(sparring_matrix_from_csr(SPARRING_F32, 3, 4, row_ptr, col_idx, floats, 6, &f));
    OK(sparring_matrix_from_csr(SPARRING_I64, 3, 4, row_ptr, col_idx, ints, 6, &i));

    OK(sparring_pairwise(cpu, "manhattan", x, y, NULL, d, 6, NULL, 0, NULL));
    EXPECT(memcmp(d, to_others, sizeof to_others) == 0);
    OK(sparring_pairwise(cpu, "manhattan", x, NULL, NULL, d, 9, words, sizeof words, &length));
    EXPECT(memcmp(d, among, sizeof among) == 0);
    EXPECT(length > 0 && strlen(words) == (length < sizeof words ? length : sizeof words - 1));
    OK(sparring_pairwise(cpu, "manhattan", f, NULL, NULL, single, 9, NULL, 0, NULL));
    for (int p = 0; p < 9; p++)
        EXPECT(single[p] == (float)among[p]);
    options.p = 1;
    OK(sparring_pairwise(cpu, "minkowski", x, NULL, &options, d, 9, NULL, 0, NULL));
    EXPECT(memcmp(d, among, sizeof among) == 0);

    EXPECT_ERROR(sparring_pairwise(cpu, "manhattan", x, NULL, NULL, d, 8, NULL, 0, NULL), SPARRING_LENGTH,
                 "distances: length is 8, expected 9");
    EXPECT_ERROR(sparring_pairwise(cpu, "manhattan", x, NULL, NULL, NULL, 9, NULL, 0, NULL), SPARRING_NULL_POINTER,
                 "distances is NULL");
    EXPECT_ERROR(sparring_pairwise(cpu, "manhattan", x, narrow, NULL, d, 9, NULL, 0, NULL), SPARRING_SHAPE,
                 "x is 3\303\2274, y is 1\303\2273");
    EXPECT_ERROR(sparring_pairwise(cpu, "taxi", x, NULL, NULL, d, 9, NULL, 0, NULL), SPARRING_ARGUMENT, "manhattan");
    EXPECT_ERROR(sparring_pairwise(cpu, NULL, x, NULL, NULL, d, 9, NULL, 0, NULL), SPARRING_NULL_POINTER, "metric");
    EXPECT_ERROR(sparring_pairwise(cpu, "minkowski", x, NULL, NULL, d, 9, NULL, 0, NULL), SPARRING_ARGUMENT, "needs a p");
    EXPECT_ERROR(sparring_pairwise(cpu, "manhattan", x, f, NULL, d, 9, NULL, 0, NULL), SPARRING_TYPE, "y: values are SPARRING_F32");
    EXPECT_ERROR(sparring_pairwise(cpu, "manhattan", i, NULL, NULL, d, 9, NULL, 0, NULL), SPARRING_TYPE,
                 "SPARRING_I64");
    options.p = 0;
    options.normalize = 7;
    EXPECT_ERROR(sparring_pairwise(cpu, "manhattan", x, NULL, &options, d, 9, NULL, 0, NULL), SPARRING_ARGUMENT,
                 "normalize: 7");
    options.normalize = SPARRING_NORMALIZE_OFF;
    options.precision = SPARRING_PRECISION_ENTRIES;
    options.memory_budget = 10;
    EXPECT_ERROR(sparring_pairwise(cpu, "manhattan", x, NULL, &options, d, 9, NULL, 0, NULL), SPARRING_BUDGET, "10");

    free(d);
    free(single);
    sparring_matrix_free(x);
    sparring_matrix_free(y);
    sparring_matrix_free(f);
    sparring_matrix_free(i);
    sparring_matrix_free(narrow);
}

/* Neighbours on a line, with ties: points 0, 1, 2, 1. */
static void neighbours(const SparringDevice *cpu)
{
    const uint64_t row_ptr[] = {0, 0, 1, 2, 3};
    const uint32_t col_idx[] = {0, 0, 0};
    const double values[] = {1, 2, 1};
    const uint32_t nearest[] = {0, 1, 3, 1, 3, 0, 2, 1, 3, 1, 3, 0};
    const double at[] = {0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1};
    /* The two nearest others, in the order of their columns; and all others within 1. */
    const uint32_t graph_idx[] = {1, 3, 0, 3, 1, 3, 0, 1}, within_idx[] = {1, 3, 0, 2, 3, 1, 3, 0, 1, 2};
    const double graph_at[] = {1, 1, 1, 0, 1, 1, 1, 0};
    const uint64_t within_ptr[] = {0, 2, 5, 7, 10};
    const SparringDistanceOptions others = {.exclude_self = 1};
    SparringMatrix *x = NULL, *graph = NULL, *within = NULL;
    uint32_t *ids = malloc(12 * sizeof *ids);
    double *d = malloc(12 * sizeof *d);
    uint64_t p[5], found = 0;
    EXPECT(ids != NULL && d != NULL);
    OK(sparring_matrix_from_csr(SPARRING_F64, 4, 1, row_ptr, col_idx, values, 3, &x));

    OK(sparring_knn(cpu, "manhattan", 3, x, NULL, NULL, ids, d, 12, &found, NULL, 0, NULL));
    EXPECT(found == 3 && memcmp(ids, nearest, sizeof nearest) == 0 && memcmp(d, at, sizeof at) == 0);
    OK(sparring_knn(cpu, "manhattan", 1000, x, NULL, &others, ids, NULL, 12, &found, NULL, 0, NULL));
    EXPECT(found == 3 && ids[0] == 1 && ids[1] == 3 && ids[2] == 2);
    EXPECT_ERROR(sparring_knn(cpu, "manhattan", 3, x, NULL, NULL, ids, d, 11, &found, NULL, 0, NULL), SPARRING_LENGTH,
                 "ids: length is 11, expected 12");
    EXPECT_ERROR(sparring_knn(cpu, "manhattan", 3, x, NULL, NULL, ids, d, 12, NULL, NULL, 0, NULL), SPARRING_NULL_POINTER,
                 "found is NULL");
    EXPECT_ERROR(sparring_knn(cpu, "manhattan", 3, x, x, &others, ids, d, 12, &found, NULL, 0, NULL), SPARRING_ARGUMENT,
                 "exclude_self");

    OK(sparring_knn_graph(cpu, "manhattan", 2, x, NULL, &others, &graph));
    OK(sparring_matrix_copy(graph, p, 5, ids, d, 8));
    EXPECT(p[4] == 8 && memcmp(ids, graph_idx, sizeof graph_idx) == 0 && memcmp(d, graph_at, sizeof graph_at) == 0);
    OK(sparring_radius(cpu, "manhattan", 1, x, NULL, &others, &within));
    OK(sparring_matrix_copy(within, p, 5, ids, NULL, 12));
    EXPECT(memcmp(p, within_ptr, sizeof within_ptr) == 0 && memcmp(ids, within_idx, sizeof within_idx) == 0);
    sparring_matrix_free(graph);
    sparring_matrix_free(within);
    EXPECT_ERROR(sparring_knn_graph(cpu, "manhattan", 2, NULL, NULL, NULL, &graph), SPARRING_NULL_POINTER, "x is NULL");
    EXPECT(graph == NULL);
    EXPECT_ERROR(sparring_radius(cpu, "manhattan", 0.0 / 0.0, x, NULL, NULL, &within), SPARRING_ARGUMENT, "NaN");
    EXPECT(within == NULL);
    EXPECT(sparring_radius(cpu, "manhattan", 1, (const SparringMatrix *)(const void *)cpu, NULL, NULL, &within)
           == SPARRING_INVALID_HANDLE);

    free(ids);
    free(d);
    sparring_matrix_free(x);
}

/* Rows are indexed once and queried repeatedly. */
static void an_index(const SparringDevice *cpu)
{
    const uint64_t row_ptr[] = {0, 1, 2, 2, 3};
    const uint32_t col_idx[] = {0, 0, 0};
    const double values[] = {1, 2, 1};
    SparringMatrix *x = NULL, *wide = NULL, *within = NULL, *other = NULL;
    SparringIndex *index = NULL, *again = NULL;
    const SparringDistanceOptions others = {.exclude_self = 1};
    uint32_t ids[12], same[12], type = 0;
    double d[12], as[12];
    uint64_t found = 0, nrows = 0, ncols = 0, nnz = 0, p[5];
    OK(sparring_matrix_from_csr(SPARRING_F64, 4, 1, row_ptr, col_idx, values, 3, &x));
    OK(sparring_matrix_from_csr(SPARRING_F64, 4, 2, row_ptr, col_idx, values, 3, &wide));

    OK(sparring_index_new(cpu, "manhattan", x, NULL, &index));
    OK(sparring_index_shape(index, &nrows, &ncols, &type));
    EXPECT(nrows == 4 && ncols == 1 && type == SPARRING_F64);
    OK(sparring_index_knn(cpu, index, 3, x, ids, d, 12, &found, NULL, 0, NULL));
    OK(sparring_knn(cpu, "manhattan", 3, x, x, NULL, same, as, 12, &nnz, NULL, 0, NULL));
    EXPECT(found == 3 && nnz == 3 && memcmp(ids, same, sizeof ids) == 0 && memcmp(d, as, sizeof d) == 0);
    OK(sparring_index_radius(cpu, index, 0, x, &within));
    OK(sparring_matrix_copy(within, p, 5, NULL, NULL, 0));
    EXPECT(p[4] == 6);
    sparring_matrix_free(within);

    OK(sparring_index_save(index, "rows.index"));
    OK(sparring_index_load(cpu, "rows.index", &again));
    OK(sparring_index_knn(cpu, again, 1, x, same, NULL, 4, &found, NULL, 0, NULL));
    EXPECT(found == 1 && same[0] == 0 && same[1] == 1 && same[2] == 2 && same[3] == 0);
    sparring_index_free(again);
    EXPECT(remove("rows.index") == 0);
    EXPECT_ERROR(sparring_index_load(cpu, "rows.index", &again), SPARRING_IO, "rows.index");
    EXPECT(again == NULL);

    EXPECT_ERROR(sparring_index_knn(cpu, index, 3, x, ids, d, 11, &found, NULL, 0, NULL), SPARRING_LENGTH,
                 "ids: length is 11, expected 12");
    EXPECT_ERROR(sparring_index_knn(cpu, index, 3, wide, ids, d, 12, &found, NULL, 0, NULL), SPARRING_SHAPE, "x is 4");
    EXPECT_ERROR(sparring_index_new(cpu, "manhattan", x, &others, &again), SPARRING_ARGUMENT, "options.exclude_self");
    EXPECT_ERROR(sparring_index_new(cpu, "cosin", x, NULL, &again), SPARRING_ARGUMENT, "metric");
    EXPECT_ERROR(sparring_index_radius(cpu, index, 0.0 / 0.0, x, &other), SPARRING_ARGUMENT, "NaN");
    sparring_index_free(index);
    EXPECT_ERROR(sparring_index_save(index, "rows.index"), SPARRING_INVALID_HANDLE, "SparringIndex");
    sparring_index_free(NULL);
    sparring_matrix_free(x);
    sparring_matrix_free(wide);
}

int main(void)
{
    SparringDevice *cpu = NULL;
    uint64_t known = 0;
    OK(sparring_device_new("cpu", 2, 0, &cpu));
    for (uint64_t i = 0; i < sparring_metric_count(); i++)
        known += strcmp(sparring_metric_name(i), "manhattan") == 0;
    EXPECT(known == 1 && sparring_metric_name(sparring_metric_count()) == NULL);
    pairwise(cpu);
    neighbours(cpu);
    an_index(cpu);
    sparring_device_free(cpu);
    EXPECT(sparring_handles_alive() == 0);
    puts("ok");
    return EXIT_SUCCESS;
}
