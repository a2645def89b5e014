/* Products over two semirings with one plan: the pattern is computed once, the values whenever they change.
 *
 * Four towns, and the roads between them in kilometres:
 *
 *     0 --7--> 1 --2--> 3
 *     0 --1--> 2 --4--> 3      3 --5--> 0
 *
 * Over plus-pair, (A A)(i, j) is the number of two-road paths from i to j; over min-plus, the length of the shortest.
 *
 * How to build it: capi/README.md.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sparring.h"

/* Exits on error; a library would return the status to its caller. */
static void check(SparringStatus status)
{
    if (status != SPARRING_OK) {
        fprintf(stderr, "mxm: %s (%s)\n", sparring_last_error(), sparring_status_name(status));
        exit(EXIT_FAILURE);
    }
}

static void print(const char *what, const SparringMatrix *c)
{
    uint64_t nrows, ncols;
    const uint64_t *row_ptr;
    const uint32_t *col_idx;
    const void *lent;
    check(sparring_matrix_shape(c, &nrows, &ncols));
    check(sparring_matrix_borrow(c, &row_ptr, &col_idx, &lent)); /* no copy; good until c is freed or rewritten */
    const double *values = lent;
    printf("%s:", what);
    for (uint64_t i = 0; i < nrows; i++)
        for (uint64_t p = row_ptr[i]; p < row_ptr[i + 1]; p++)
            printf(" (%llu,%u)=%g", (unsigned long long)i, (unsigned)col_idx[p], values[p]);
    printf("\n");
}

int main(void)
{
    const uint64_t row_ptr[] = {0, 2, 3, 4, 5};
    const uint32_t col_idx[] = {1, 2, 3, 3, 0};
    const double km[] = {7, 1, 2, 4, 5};
    const double by_train[] = {3, 6, 1, 2, 2};
    SparringDevice *cpu;
    SparringMatrix *roads, *rails, *ways, *shortest;
    SparringPlan *plan;
    SparringSemiring *min_plus;
    SparringStats stats;
    char chosen[1000];

    check(sparring_device_new("cpu", 0, 0, &cpu));
    check(sparring_matrix_from_csr(SPARRING_F64, 4, 4, row_ptr, col_idx, km, 5, &roads));
    check(sparring_matrix_from_csr(SPARRING_F64, 4, 4, row_ptr, col_idx, by_train, 5, &rails));

    /* In a single call: */
    check(sparring_mxm(cpu, "plus_pair", roads, roads, NULL, &ways));
    print("ways", ways);

    /* In two phases: symbolic, then numeric for each set of values. */
    check(sparring_plan_new(cpu, roads, roads, NULL, &plan));
    check(sparring_plan_stats(plan, &stats));
    check(sparring_plan_explain(plan, chosen, sizeof chosen, NULL));
    printf("plan: %llu multiplications, %llu entries (%s)\n", (unsigned long long)stats.flops,
           (unsigned long long)stats.nnz, chosen);
    check(sparring_semiring_new("min_plus", SPARRING_F64, SPARRING_F64, &min_plus)); /* a name or formulas, read once */
    check(sparring_plan_numeric_with(cpu, plan, min_plus, roads, roads, &shortest));
    print("km", shortest);
    check(sparring_plan_numeric_into_with(cpu, plan, min_plus, rails, rails, shortest)); /* no allocation */
    print("minutes", shortest);

    sparring_semiring_free(min_plus);
    sparring_plan_free(plan);
    sparring_matrix_free(shortest);
    sparring_matrix_free(ways);
    sparring_matrix_free(rails);
    sparring_matrix_free(roads);
    sparring_device_free(cpu);
    return EXIT_SUCCESS;
}
