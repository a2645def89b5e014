/* Errors as a C program sees them. Prints "ok" and exits with 0, or prints the failing line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sparring.h"

static void expect(int holds, const char *what, int line)
{
    if (!holds) {
        fprintf(stderr, "errors.c:%d: not so: %s (last error: \"%s\")\n", line, what, sparring_last_error());
        exit(EXIT_FAILURE);
    }
}
#define EXPECT(x) expect((x) ? 1 : 0, #x, __LINE__)
#define EXPECT_ERROR(call, status, words)                 \
    do {                                                  \
        EXPECT((call) == (status));                       \
        EXPECT(strstr(sparring_last_error(), words) != NULL); \
    } while (0)

/* Arguments are evaluated in any order: the text is that of the call in the same line, even if queried before it. */
static void newest_error(void)
{
    char line[256];
    const char *before = sparring_last_error();
    SparringDevice *none = NULL;
    int length;
    EXPECT(sparring_device_new(NULL, 1, 0, &none) == SPARRING_NULL_POINTER && strcmp(before, "name is NULL") == 0);
    length = snprintf(line, sizeof line, "%d %s", (int)sparring_device_new("gpu", 1, 0, &none), sparring_last_error());
    EXPECT(length > 0 && strncmp(line, "14 name: 'gpu' is neither", 25) == 0);
    length = snprintf(line, sizeof line, "%s %d", sparring_last_error(), (int)sparring_device_new("cpu", 1, 0, NULL));
    EXPECT(length > 0 && strcmp(line, "device is NULL 101") == 0);
    /* Queried first, whatever the order of evaluation. */
    before = sparring_last_error();
    EXPECT(sparring_matrix_nnz(NULL, NULL) == SPARRING_NULL_POINTER && strcmp(before, "matrix is NULL") == 0);
    EXPECT(before == sparring_last_error());
    EXPECT(sparring_device_free(NULL) == SPARRING_OK && strcmp(before, "") == 0);
}

int main(void)
{
    const uint64_t row_ptr[] = {0, 1, 2}, decreasing[] = {0, 2, 1};
    const uint32_t col_idx[] = {0, 1}, too_large[] = {0, 9};
    const double values[] = {1.5, 2.5};
    const int64_t ints[] = {1, 2};
    SparringDevice *cpu = NULL;
    SparringMatrix *a = NULL, *b = NULL, *c = NULL;
    SparringPlan *plan = NULL;
    SparringOptions options = {0};
    uint64_t n = 0, m = 0;
    uint32_t threads = 0;
    double copied[2] = {0, 0};
    char buffer[64];

    EXPECT(strlen(sparring_version()) > 0);
    EXPECT(sparring_version_number() == SPARRING_VERSION);
    snprintf(buffer, sizeof buffer, "%d.%d.%d", SPARRING_VERSION_MAJOR, SPARRING_VERSION_MINOR, SPARRING_VERSION_PATCH);
    EXPECT(strncmp(sparring_version(), buffer, strlen(buffer)) == 0);
    EXPECT(strcmp(sparring_last_error(), "") == 0);
    newest_error();
    EXPECT(strcmp(sparring_status_name(SPARRING_SHAPE), "SPARRING_SHAPE") == 0);
    EXPECT(sparring_handles_alive() == 0);

    /* The processor. */
    EXPECT_ERROR(sparring_device_new("cpu", 1, 0, NULL), SPARRING_NULL_POINTER, "device is NULL");
    EXPECT_ERROR(sparring_device_new("cpu", 1000000, 0, &cpu), SPARRING_ARGUMENT, "1000000");
    EXPECT(cpu == NULL);
    EXPECT(sparring_device_new("cpu", 2, 0, &cpu) == SPARRING_OK);
    EXPECT(sparring_device_threads(cpu, &threads) == SPARRING_OK && threads == 2);

    /* Matrices. */
    EXPECT_ERROR(sparring_matrix_from_csr(SPARRING_F64, 2, 2, decreasing, col_idx, values, 2, &a), SPARRING_ROW_POINTER,
                 "row_ptr[2] is 1");
    EXPECT(a == NULL);
    EXPECT_ERROR(sparring_matrix_from_csr(SPARRING_F64, 2, 2, row_ptr, too_large, values, 2, &a), SPARRING_INDEX_RANGE,
                 "col_idx[1] is 9, not below ncols");
    EXPECT_ERROR(sparring_matrix_from_csr(SPARRING_F64, 2, 2, row_ptr, col_idx, NULL, 2, &a), SPARRING_NULL_POINTER,
                 "values is NULL");
    EXPECT_ERROR(sparring_matrix_from_csr(77, 2, 2, row_ptr, col_idx, values, 2, &a), SPARRING_ARGUMENT, "77");
    EXPECT_ERROR(sparring_matrix_from_coo(SPARRING_F64, 2, 2, too_large, col_idx, values, 2, &a), SPARRING_INDEX_RANGE,
                 "rows[1] is 9, not below nrows");
    EXPECT_ERROR(sparring_matrix_read(cpu, SPARRING_F64, NULL, &a), SPARRING_NULL_POINTER, "path is NULL");
    EXPECT(sparring_matrix_read(cpu, SPARRING_F64, "no/such/file.mtx", &a) != SPARRING_OK && a == NULL);
    EXPECT(sparring_matrix_from_csr(SPARRING_F64, 2, 2, row_ptr, col_idx, values, 2, &a) == SPARRING_OK);
    EXPECT(strcmp(sparring_last_error(), "") == 0);
    EXPECT(sparring_matrix_from_coo(SPARRING_I64, 2, 2, col_idx, col_idx, ints, 2, &b) == SPARRING_OK);
    EXPECT(sparring_matrix_shape(a, &n, &m) == SPARRING_OK && n == 2 && m == 2);
    EXPECT_ERROR(sparring_matrix_copy(a, NULL, 0, NULL, copied, 1), SPARRING_LENGTH, "expected 2");
    EXPECT(sparring_matrix_copy(a, NULL, 0, NULL, copied, 2) == SPARRING_OK);
    EXPECT(copied[0] == 1.5 && copied[1] == 2.5);

    /* Products. */
    EXPECT_ERROR(sparring_mxm(cpu, "plus_times", a, b, NULL, &c), SPARRING_TYPE, "b: values are SPARRING_I64");
    EXPECT(c == NULL);
    EXPECT_ERROR(sparring_mxm(cpu, "times_plush", a, a, NULL, &c), SPARRING_ARGUMENT, "plush");
    EXPECT_ERROR(sparring_mxm(cpu, "bor_band", a, a, NULL, &c), SPARRING_TYPE, "f64 has ");
    options.accumulator = 9;
    EXPECT_ERROR(sparring_mxm(cpu, "plus_times", a, a, &options, &c), SPARRING_ARGUMENT, "options.accumulator: 9");
    options.accumulator = SPARRING_ACCUMULATOR_DENSE;
    EXPECT(sparring_mxm(cpu, "plus_times", a, a, &options, &c) == SPARRING_OK);
    EXPECT(sparring_plan_new(cpu, a, b, NULL, &plan) == SPARRING_OK);
    EXPECT(sparring_plan_explain(plan, buffer, sizeof buffer, &n) == SPARRING_OK);
    EXPECT(strlen(buffer) == (n < sizeof buffer ? n : sizeof buffer - 1));

    /* Invalid handles. */
    EXPECT_ERROR(sparring_matrix_nnz((const SparringMatrix *)(const void *)cpu, &n), SPARRING_INVALID_HANDLE,
                 "the handle is of a SparringDevice");
    EXPECT_ERROR(sparring_matrix_nnz((const SparringMatrix *)(const void *)&n, &n), SPARRING_INVALID_HANDLE,
                 "not a handle of a SparringMatrix");
    EXPECT_ERROR(sparring_matrix_nnz(NULL, &n), SPARRING_NULL_POINTER, "matrix is NULL");
    EXPECT(sparring_handles_alive() == 5);
    EXPECT(sparring_matrix_free(c) == SPARRING_OK);
    EXPECT_ERROR(sparring_matrix_free(c), SPARRING_INVALID_HANDLE, "freed, or never one");
    EXPECT_ERROR(sparring_matrix_nnz(c, &n), SPARRING_INVALID_HANDLE, "freed, or never one");

    EXPECT(sparring_plan_free(plan) == SPARRING_OK && sparring_plan_free(NULL) == SPARRING_OK);
    EXPECT(sparring_matrix_free(a) == SPARRING_OK && sparring_matrix_free(NULL) == SPARRING_OK);
    EXPECT(sparring_matrix_free(b) == SPARRING_OK);
    EXPECT(sparring_device_free(cpu) == SPARRING_OK && sparring_device_free(NULL) == SPARRING_OK);
    EXPECT(sparring_handles_alive() == 0);
    puts("ok");
    return EXIT_SUCCESS;
}
