/* A product on a GPU from C: uploaded, planned, computed twice in place, downloaded; and distances between rows.
 * Prints "ok" and exits with 0, prints "skipped: no GPU" without one, or prints the failing line. */
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
    SparringMatrix *a = NULL, *there = NULL, *c = NULL, *back = NULL, *want = NULL, *graph = NULL, *within = NULL;
    SparringPlan *plan = NULL;
    SparringStats stats;
    const void *x, *y;
    uint64_t count = 0, length = 0;
    char words[200];
    double distances[9];
    uint32_t ids[3];

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

    /* Rows (0 2 5), (0 0 3), (7 0 0). */
    OK(sparring_pairwise(gpu, "manhattan", there, NULL, NULL, distances, 9, words, sizeof words, NULL));
    EXPECT(distances[0] == 0 && distances[1] == 4 && distances[2] == 14 && distances[5] == 10 && strlen(words) > 8);
    OK(sparring_knn(gpu, "manhattan", 1, a, there, NULL, ids, NULL, 3, &count, NULL, 0, NULL));
    EXPECT(count == 1 && ids[0] == 0 && ids[1] == 1 && ids[2] == 2);
    OK(sparring_knn_graph(gpu, "manhattan", 2, there, NULL, NULL, &graph));
    OK(sparring_radius(gpu, "manhattan", 4, there, NULL, NULL, &within));
    OK(sparring_matrix_nnz(graph, &count));
    OK(sparring_matrix_nnz(within, &length));
    EXPECT(count == 6 && length == 5);
    OK(sparring_matrix_device(within, words, sizeof words, NULL));
    EXPECT(strcmp(words, "cuda:0") == 0);

    sparring_plan_free(plan);
    sparring_matrix_free(within);
    sparring_matrix_free(graph);
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
