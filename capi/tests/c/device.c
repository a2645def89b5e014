/* A product on a GPU, as C sees it: sent there, planned, computed twice in place, brought back. Says "ok" and exits with
 * 0, or "skipped: no GPU" where there is none, or tells the line that is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sparring.h"

static void expect(int holds, const char *what, int line)
{
    if (!holds) {
        fprintf(stderr, "device.c:%d: not so: %s (last error: \"%s\")\n", line, what, sparring_last_error());
        exit(EXIT_FAILURE);
    }
}
#define EXPECT(x) expect((x) ? 1 : 0, #x, __LINE__)
#define OK(call) EXPECT((call) == SPARRING_OK)

int main(void)
{
    /* The square of a ring of three, one edge doubled. */
    const uint64_t row_ptr[] = {0, 2, 3, 4};
    const uint32_t col_idx[] = {1, 2, 2, 0};
    const double values[] = {2, 5, 3, 7};
    SparringDevice *cpu = NULL, *gpu = NULL;
    SparringMatrix *a = NULL, *there = NULL, *c = NULL, *back = NULL, *want = NULL;
    SparringPlan *plan = NULL;
    SparringStats stats;
    const void *x, *y;
    uint64_t count = 0, length = 0;
    char words[200];

    EXPECT(sparring_device_new("cuda:4000", 0, 0, &gpu) == SPARRING_NO_DEVICE && gpu == NULL);
    EXPECT(strncmp(sparring_last_error(), "no GPU 4000: ", 13) == 0);
    if (sparring_gpu_count() == 0) {
        EXPECT(sparring_device_new("cuda:0", 0, 0, &gpu) == SPARRING_NO_DEVICE);
        printf("skipped: no GPU (%s)\n", sparring_last_error());
        return EXIT_SUCCESS;
    }
    OK(sparring_device_new("cuda:0", 0, 0, &gpu));
    OK(sparring_device_describe(gpu, words, sizeof words, &length));
    EXPECT(strncmp(words, "cuda:0, ", 8) == 0 && length > 8);
    OK(sparring_device_new("cpu", 0, 0, &cpu));
    OK(sparring_matrix_from_csr(SPARRING_F64, 3, 3, row_ptr, col_idx, values, 4, &a));

    OK(sparring_matrix_to(gpu, a, &there));
    OK(sparring_plan_new(gpu, there, there, NULL, &plan));
    OK(sparring_plan_stats(plan, &stats));
    EXPECT(stats.flops == 5);
    OK(sparring_plan_numeric(gpu, plan, "plus_times", there, there, &c));
    OK(sparring_plan_numeric_into(gpu, plan, "min_plus", there, there, c));
    OK(sparring_matrix_device(c, words, sizeof words, NULL));
    EXPECT(strcmp(words, "cuda:0") == 0);

    OK(sparring_matrix_to(cpu, c, &back));
    OK(sparring_mxm(cpu, "min_plus", a, a, NULL, &want));
    OK(sparring_matrix_borrow(back, NULL, NULL, &x));
    OK(sparring_matrix_borrow(want, NULL, NULL, &y));
    EXPECT(memcmp(x, y, stats.nnz * sizeof(double)) == 0);

    OK(sparring_triangles(gpu, there, SPARRING_TRIANGLES_AUTO, &count, NULL, 0, NULL));
    EXPECT(count == 1);

    sparring_plan_free(plan);
    sparring_matrix_free(want);
    sparring_matrix_free(back);
    sparring_matrix_free(c);
    sparring_matrix_free(there);
    sparring_matrix_free(a);
    sparring_device_free(cpu);
    sparring_device_free(gpu);
    EXPECT(sparring_handles_alive() == 0);
    puts("ok");
    return EXIT_SUCCESS;
}
