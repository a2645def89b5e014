/* C functions as operators: a semiring, a selection, a context. Prints "ok". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sparring.h"

#define OK(call)                                                                                  \
    do {                                                                                          \
        if ((call) != SPARRING_OK) {                                                              \
            fprintf(stderr, "functions.c:%d: %s\n", __LINE__, sparring_last_error());             \
            exit(EXIT_FAILURE);                                                                   \
        }                                                                                         \
    } while (0)
#define EXPECT(x)                                                                                 \
    do {                                                                                          \
        if (!(x)) {                                                                               \
            fprintf(stderr, "functions.c:%d: not so: %s\n", __LINE__, #x);                        \
            exit(EXIT_FAILURE);                                                                   \
        }                                                                                         \
    } while (0)

static void plus(void *z, const void *x, const void *y) { *(double *)z = *(const double *)x + *(const double *)y; }
static void min(void *z, const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    *(double *)z = a < b ? a : b;
}
static void is_above(void *context, void *z, const void *x) { *(uint8_t *)z = *(const double *)x > *(double *)context; }
static void forget(void *context) { *(double *)context = -1; }
static void on_band(void *z, const void *x, uint64_t i, uint64_t j, const void *s)
{
    (void)x;
    *(uint8_t *)z = (i > j ? i - j : j - i) <= *(const uint64_t *)s;
}

int main(void)
{
    const uint64_t row_ptr[] = {0, 2, 3}, one = 1;
    const uint32_t col_idx[] = {0, 1, 1};
    const double values[] = {1, 2, 3}, infinity = 1e300;
    double limit = 1.5, found[4];
    uint64_t nnz = 0;
    SparringDevice *cpu;
    SparringMatrix *a, *c;
    SparringBinaryOp *add, *least;
    SparringMonoid *monoid;
    SparringSemiring *ring;
    SparringScalar *identity, *width;
    SparringUnaryOp *above, *band, *within;
    OK(sparring_device_new("cpu", 2, 0, &cpu));
    OK(sparring_matrix_from_csr(SPARRING_F64, 2, 2, row_ptr, col_idx, values, 3, &a));
    OK(sparring_matrix_new(SPARRING_F64, 2, 2, &c));

    OK(sparring_binary_op_from_function(plus, "plus of C", SPARRING_F64, SPARRING_F64, SPARRING_F64, &add));
    OK(sparring_binary_op_from_function(min, NULL, SPARRING_F64, SPARRING_F64, SPARRING_F64, &least));
    OK(sparring_scalar_new(SPARRING_F64, &infinity, &identity));
    OK(sparring_monoid_from_op(least, identity, &monoid));
    OK(sparring_semiring_from_ops(monoid, add, &ring));
    OK(sparring_matrix_mxm(cpu, c, NULL, NULL, ring, a, a, NULL));
    OK(sparring_matrix_copy(c, NULL, 0, NULL, found, 4));
    EXPECT(found[0] == 2 && found[1] == 3 && found[2] == 6);
    OK(sparring_matrix_reduce_scalar(cpu, identity, NULL, monoid, a));
    OK(sparring_scalar_get(identity, found));
    EXPECT(found[0] == 1);

    OK(sparring_unary_op_from_closure(is_above, &limit, forget, NULL, SPARRING_BOOL, SPARRING_F64, &above));
    OK(sparring_matrix_select(cpu, c, NULL, NULL, above, a, NULL));
    OK(sparring_matrix_nnz(c, &nnz));
    EXPECT(nnz == 2 && limit == 1.5);
    OK(sparring_unary_op_free(above));
    EXPECT(limit == -1);
    OK(sparring_unary_op_from_index_function(on_band, "band", SPARRING_BOOL, SPARRING_F64, SPARRING_U64, &band));
    OK(sparring_scalar_new(SPARRING_U64, &one, &width));
    OK(sparring_unary_op_with(band, width, &within));
    OK(sparring_matrix_select(cpu, c, NULL, add, within, a, NULL));
    OK(sparring_matrix_copy(c, NULL, 0, NULL, found, 4));
    EXPECT(found[0] == 1 && found[1] == 4 && found[2] == 6);

    EXPECT(sparring_semiring_from_ops(monoid, NULL, &ring) == SPARRING_NULL_POINTER);
    EXPECT(strcmp(sparring_last_error(), "mul is NULL") == 0);
    puts("ok");
    return 0;
}
