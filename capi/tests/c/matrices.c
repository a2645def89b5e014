/* A matrix updated in place, written to the file given as the argument, and read again. Prints "ok". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sparring.h"

#define EXPECT(x)                                                                                                  \
    do {                                                                                                           \
        if (!(x)) {                                                                                                \
            fprintf(stderr, "matrices.c:%d: not so: %s (last error: \"%s\")\n", __LINE__, #x, sparring_last_error()); \
            exit(EXIT_FAILURE);                                                                                    \
        }                                                                                                          \
    } while (0)
#define OK(call) EXPECT((call) == SPARRING_OK)

enum { N = 1000 };

int main(int argc, char **argv)
{
    SparringDevice *cpu = NULL;
    SparringArrays *arrays = NULL;
    SparringMatrix *a = NULL, *again = NULL, *none = NULL;
    SparringWriteOptions options = {0};
    uint64_t *row_ptr = NULL;
    uint32_t *col_idx = NULL;
    void *values = NULL;
    const uint64_t *lent_row_ptr = NULL, *read_row_ptr = NULL;
    const uint32_t *lent_col_idx = NULL, *read_col_idx = NULL;
    const void *lent = NULL, *read = NULL;

    EXPECT(argc == 2);
    OK(sparring_device_new("cpu", 1, 0, &cpu));

    /* The symmetric matrix with i/2 at (i, i). */
    OK(sparring_arrays_new(SPARRING_F64, N, N, N, &row_ptr, &col_idx, &values, &arrays));
    for (uint32_t i = 0; i < N; i++) {
        row_ptr[i + 1] = i + 1;
        col_idx[i] = i;
        ((double *)values)[i] = 0.5 * i;
    }
    OK(sparring_matrix_from_arrays(arrays, &a));
    OK(sparring_matrix_borrow(a, &lent_row_ptr, &lent_col_idx, &lent));
    EXPECT(lent_row_ptr == row_ptr && lent_col_idx == col_idx && lent == values);
    EXPECT(sparring_arrays_free(arrays) == SPARRING_INVALID_HANDLE);

    options.symmetric = 1;
    OK(sparring_matrix_write(cpu, a, argv[1], &options));
    OK(sparring_matrix_write(cpu, a, argv[1], NULL));
    OK(sparring_matrix_read(cpu, SPARRING_F64, argv[1], &again));
    OK(sparring_matrix_borrow(again, &read_row_ptr, &read_col_idx, &read));
    EXPECT(memcmp(read_row_ptr, row_ptr, (N + 1) * sizeof *row_ptr) == 0);
    EXPECT(memcmp(read_col_idx, col_idx, N * sizeof *col_idx) == 0 && memcmp(read, values, N * sizeof(double)) == 0);

    /* Filled with invalid data: refused, and freed. */
    OK(sparring_arrays_new(SPARRING_F64, 1, 1, 1, &row_ptr, &col_idx, &values, &arrays));
    row_ptr[1] = 2;
    EXPECT(sparring_matrix_from_arrays(arrays, &none) == SPARRING_ROW_POINTER && none == NULL);
    EXPECT(strcmp(sparring_last_error(), "row_ptr[1] is 2, expected 1, the number of entries") == 0);

    OK(sparring_arrays_new(SPARRING_F64, 1, 1, 1, &row_ptr, &col_idx, &values, &arrays));
    OK(sparring_arrays_free(arrays));
    OK(sparring_matrix_free(a));
    OK(sparring_matrix_free(again));
    OK(sparring_device_free(cpu));
    EXPECT(sparring_handles_alive() == 0);
    puts("ok");
    return EXIT_SUCCESS;
}
