/* Contractions of strided arrays: one-off and planned, batches and updates; and refused calls.
 * Prints "ok" and exits with 0, or prints the failing line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sparring.h"

static void expect(int holds, const char *what, int line)
{
    if (!holds) {
        fprintf(stderr, "einsum.c:%d: not so: %s (last error: \"%s\")\n", line, what, sparring_last_error());
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

static const uint64_t square[] = {2, 2};
static const int64_t by_columns[] = {1, 2};

/* Three products of 2 x 2 matrices: column-major left operands, one right operand for all, gaps between results. */
static void batches(const SparringDevice *cpu)
{
    const double a[12] = {1, 3, 2, 4, 0, 1, 1, 0, 1, 0, 0, 1}, b[4] = {5, 6, 7, 8};
    const double expected[15] = {19, 22, 43, 50, -1, 7, 8, 5, 6, -1, 5, 6, 7, 8, -1};
    const SparringLayout layouts[] = {{2, square, by_columns, 0, 3, 4}, {2, square, NULL, 0, 1, 0}};
    const SparringLayout rows = {2, square, NULL, 0, 3, 5};
    const void *operands[] = {a, b};
    const uint64_t lengths[] = {12, 4};
    double c[15];
    for (int i = 0; i < 15; i++)
        c[i] = -1;
    OK(sparring_einsum(cpu, "ij,jk->ik", "plus_times", SPARRING_F64, layouts, operands, lengths, 2, NULL, NULL, &rows, c, 15));
    EXPECT(memcmp(c, expected, sizeof c) == 0);

    EXPECT_ERROR(sparring_einsum(cpu, "ij,jk->il", "plus_times", SPARRING_F64, layouts, operands, lengths, 2, NULL, NULL, &rows, c, 15),
                 SPARRING_FORMULA, "no operand has this index of the result\n  ij,jk->il\n          ^");
    /* Roads from i over j to k, in the first two squares. */
    OK(sparring_einsum(cpu, "ij,jk->ik", "min_plus", SPARRING_F64, layouts, operands, lengths, 2, NULL, NULL, &rows, c, 15));
    EXPECT(c[0] == 6 && c[1] == 7 && c[2] == 8 && c[3] == 9 && c[4] == -1 && c[14] == -1);
    EXPECT_ERROR(sparring_einsum(cpu, "ij,jk->ik", "min_plus", SPARRING_COMPLEX_F64, layouts, operands, lengths, 2, NULL, NULL, &rows, c, 15),
                 SPARRING_TYPE, "semiring 'min_plus' over complex_f64");
    EXPECT_ERROR(sparring_einsum(cpu, "ij,jk->ik", "plus_times", SPARRING_F64, layouts, operands, lengths, 2, NULL, NULL, &rows, c, 13),
                 SPARRING_LENGTH, "result: array under a layout: length is 13, expected 14");
    operands[1] = c + 14;
    EXPECT_ERROR(sparring_einsum(cpu, "ij,jk->ik", "plus_times", SPARRING_F64, layouts, operands, lengths, 2, NULL, NULL, &rows, c, 15),
                 SPARRING_ARGUMENT, "result: it overlaps operands[1]");
    operands[1] = NULL;
    EXPECT_ERROR(sparring_einsum(cpu, "ij,jk->ik", "plus_times", SPARRING_F64, layouts, operands, lengths, 2, NULL, NULL, &rows, c, 15),
                 SPARRING_NULL_POINTER, "operands[1] is NULL");
}

/* C = alpha A B + beta C, repeatedly. */
static void updates(const SparringDevice *cpu)
{
    const double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, half = .5, two = 2, zero = 0;
    const uint64_t three[] = {3};
    const SparringLayout layouts[] = {{2, square, NULL, 0, 1, 0}, {2, square, NULL, 0, 1, 0}};
    const SparringLayout unlike = {1, three, NULL, 0, 1, 0};
    const void *operands[] = {a, b};
    const uint64_t lengths[] = {4, 4};
    double c[4] = {NAN, NAN, NAN, NAN};
    SparringEinsumPlan *plan = NULL;
    uint64_t bytes = 0;
    OK(sparring_einsum_plan_new(cpu, "ij,jk->ik", "plus_times", SPARRING_F64, layouts, 2, layouts, &plan));
    OK(sparring_einsum_plan_workspace(plan, &bytes));
    EXPECT(bytes > 0 && bytes < 100000);
    OK(sparring_einsum_plan_run(plan, operands, lengths, 2, NULL, &zero, c, 4));
    EXPECT(c[0] == 19 && c[1] == 22 && c[2] == 43 && c[3] == 50);
    OK(sparring_einsum_plan_run(plan, operands, lengths, 2, &two, &half, c, 4));
    EXPECT(c[0] == 47.5 && c[1] == 55 && c[2] == 107.5 && c[3] == 125);
    operands[1] = a;
    OK(sparring_einsum_plan_run(plan, operands, lengths, 2, NULL, NULL, c, 4));
    EXPECT(c[0] == 7 && c[1] == 10 && c[2] == 15 && c[3] == 22);
    EXPECT_ERROR(sparring_einsum_plan_run(plan, operands, lengths, 1, NULL, NULL, c, 4), SPARRING_LENGTH,
                 "operands: length is 1, expected 2");
    EXPECT_ERROR(sparring_einsum_plan_run(plan, operands, lengths, 2, NULL, NULL, (char *)c + 1, 3), SPARRING_ARGUMENT,
                 "result: the address");
    OK(sparring_einsum_plan_free(plan));
    EXPECT_ERROR(sparring_einsum_plan_run(plan, operands, lengths, 2, NULL, NULL, c, 4), SPARRING_INVALID_HANDLE, "einsum: ");
    OK(sparring_einsum_plan_free(NULL));
    EXPECT_ERROR(sparring_einsum_plan_new(cpu, "ij,jk->ik", "plus_times", SPARRING_F64, layouts, 2, &unlike, &plan),
                 SPARRING_SHAPE, "result_layout.rank: 1, but the expression has 2");
    EXPECT(plan == NULL);
    EXPECT_ERROR(sparring_einsum_plan_new(cpu, "ij,jk->ik", "plus_times", SPARRING_F64, layouts, 1, layouts, &plan),
                 SPARRING_FORMULA, "2 operands are named, 1 are given");
}

/* Indices that run backwards, diagonals, no elements. */
static void layouts(const SparringDevice *cpu)
{
    const double x[4] = {1, 2, 3, 4};
    const uint64_t four[] = {4}, none[] = {0};
    const int64_t backwards[] = {-1}, far[] = {INT64_MIN};
    const SparringLayout reversed = {1, four, backwards, 3, 1, 0}, before = {1, four, backwards, 2, 1, 0};
    const SparringLayout list = {1, four, NULL, 0, 1, 0}, one = {0, NULL, NULL, 0, 1, 0}, matrix = {2, square, NULL, 0, 1, 0};
    const SparringLayout empty = {1, none, NULL, 0, 1, 0}, wild = {1, four, far, 3, 1, 0}, lost = {1, NULL, NULL, 0, 1, 0};
    const SparringLayout crowd = {1, four, NULL, 0, UINT64_MAX, 1};
    const void *operands[] = {x};
    const uint64_t lengths[] = {4};
    double c[4] = {0};
    OK(sparring_einsum(cpu, "i->i", "plus_times", SPARRING_F64, &reversed, operands, lengths, 1, NULL, NULL, &list, c, 4));
    EXPECT(c[0] == 4 && c[1] == 3 && c[2] == 2 && c[3] == 1);
    OK(sparring_einsum(cpu, "ii->", "plus_times", SPARRING_F64, &matrix, operands, lengths, 1, NULL, NULL, &one, c, 4));
    EXPECT(c[0] == 5 && c[1] == 3);
    OK(sparring_einsum(cpu, "i->", "plus_times", SPARRING_F64, &empty, operands, lengths, 1, NULL, NULL, &one, c, 1));
    EXPECT(c[0] == 0);
    EXPECT_ERROR(sparring_einsum(cpu, "i->i", "plus_times", SPARRING_F64, &before, operands, lengths, 1, NULL, NULL, &list, c, 4),
                 SPARRING_ARGUMENT, "layouts[0]: layout: ");
    EXPECT_ERROR(sparring_einsum(cpu, "i->i", "plus_times", SPARRING_F64, &list, operands, lengths, 1, NULL, NULL, &reversed, c, 4),
                 SPARRING_ARGUMENT, "result_layout: layout: ");
    EXPECT_ERROR(sparring_einsum(cpu, "i->i", "plus_times", SPARRING_F64, &wild, operands, lengths, 1, NULL, NULL, &list, c, 4),
                 SPARRING_ARGUMENT, "layouts[0]");
    EXPECT_ERROR(sparring_einsum(cpu, "i->i", "plus_times", SPARRING_F64, &lost, operands, lengths, 1, NULL, NULL, &list, c, 4),
                 SPARRING_NULL_POINTER, "layouts[0].extents is NULL");
    EXPECT_ERROR(sparring_einsum(cpu, "i->i", "plus_times", SPARRING_F64, &crowd, operands, lengths, 1, NULL, NULL, &list, c, 4),
                 SPARRING_INDEX_OVERFLOW, "layouts[0]");
}

int main(void)
{
    SparringDevice *cpu = NULL;
    OK(sparring_device_new("cpu", 2, 0, &cpu));
    batches(cpu);
    updates(cpu);
    layouts(cpu);
    OK(sparring_device_free(cpu));
    EXPECT(sparring_handles_alive() == 0);
    puts("ok");
    return 0;
}
