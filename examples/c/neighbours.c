/* Nearest neighbours: which of four texts are about the same topic, by word counts.
 *
 *                    matrix  sparse  graph  bread  oven
 *     0  sparse matrices  4       3
 *     1  graphs           4               3
 *     2  baking                                  4      3
 *     3  bakeries                         3      4
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
        fprintf(stderr, "neighbours: %s (%s)\n", sparring_last_error(), sparring_status_name(status));
        exit(EXIT_FAILURE);
    }
}

int main(void)
{
    const uint64_t row_ptr[] = {0, 2, 4, 6, 8};
    const uint32_t col_idx[] = {0, 1, 0, 2, 3, 4, 2, 3};
    const double counts[] = {4, 3, 4, 3, 4, 3, 3, 4};
    const SparringDistanceOptions others = {.exclude_self = 1}; /* all else by default */
    SparringDevice *cpu;
    SparringMatrix *texts, *close;
    uint32_t ids[4 * 2];
    double distances[4 * 2];
    uint64_t found; /* neighbours of each row: 2, or fewer if there were fewer texts */
    char how[1000];

    check(sparring_device_new("cpu", 0, 0, &cpu));
    check(sparring_matrix_from_csr(SPARRING_F64, 4, 5, row_ptr, col_idx, counts, 8, &texts));

    /* Into caller-owned arrays, nearest first. To search another matrix, pass it instead of the first NULL. */
    check(sparring_knn(cpu, "cosine", 2, texts, NULL, &others, ids, distances, 8, &found, how, sizeof how, NULL));
    for (uint64_t i = 0; i < 4; i++) {
        printf("%llu:", (unsigned long long)i);
        for (uint64_t p = i * found; p < (i + 1) * found; p++)
            printf("%s %u at %g", p > i * found ? "," : "", (unsigned)ids[p], distances[p]);
        printf("\n");
    }

    /* As a matrix: any number per row. */
    check(sparring_radius(cpu, "cosine", 0.5, texts, NULL, &others, &close));
    const uint64_t *begin;
    const uint32_t *near_rows;
    check(sparring_matrix_borrow(close, &begin, &near_rows, NULL));
    printf("closer than 0.5:");
    for (uint64_t i = 0; i < 4; i++)
        for (uint64_t p = begin[i]; p < begin[i + 1]; p++)
            printf(" (%llu,%u)", (unsigned long long)i, (unsigned)near_rows[p]);
    printf("\n%s\n", how);

    sparring_matrix_free(close);
    sparring_matrix_free(texts);
    sparring_device_free(cpu);
    return EXIT_SUCCESS;
}
