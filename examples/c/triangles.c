/* Counts the triangles of a graph: of the one in a Matrix Market file (.mtx or .mtx.gz), or, without an argument, of
 * Zachary's karate club, which has 34 members, 78 friendships and 45 triangles.
 *
 * How to build it: capi/README.md.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sparring.h"

/* Each pair once; members are numbered from 1. */
static const uint32_t friends[78][2] = {
    {1, 2},   {1, 3},   {1, 4},   {1, 5},   {1, 6},   {1, 7},   {1, 8},   {1, 9},   {1, 11},  {1, 12},  {1, 13},
    {1, 14},  {1, 18},  {1, 20},  {1, 22},  {1, 32},  {2, 3},   {2, 4},   {2, 8},   {2, 14},  {2, 18},  {2, 20},
    {2, 22},  {2, 31},  {3, 4},   {3, 8},   {3, 9},   {3, 10},  {3, 14},  {3, 28},  {3, 29},  {3, 33},  {4, 8},
    {4, 13},  {4, 14},  {5, 7},   {5, 11},  {6, 7},   {6, 11},  {6, 17},  {7, 17},  {9, 31},  {9, 33},  {9, 34},
    {10, 34}, {14, 34}, {15, 33}, {15, 34}, {16, 33}, {16, 34}, {19, 33}, {19, 34}, {20, 34}, {21, 33}, {21, 34},
    {23, 33}, {23, 34}, {24, 26}, {24, 28}, {24, 30}, {24, 33}, {24, 34}, {25, 26}, {25, 28}, {25, 32}, {26, 32},
    {27, 30}, {27, 34}, {28, 34}, {29, 32}, {29, 34}, {30, 33}, {30, 34}, {31, 33}, {31, 34}, {32, 33}, {32, 34},
    {33, 34},
};

static SparringStatus karate_club(SparringMatrix **graph)
{
    uint32_t rows[78], cols[78];
    uint8_t values[78]; /* SPARRING_BOOL: a byte each */
    for (size_t e = 0; e < 78; e++) {
        rows[e] = friends[e][0] - 1;
        cols[e] = friends[e][1] - 1;
        values[e] = 1;
    }
    return sparring_matrix_from_coo(SPARRING_BOOL, 34, 34, rows, cols, values, 78, graph);
}

int main(int argc, char **argv)
{
    SparringDevice *cpu = NULL;
    SparringMatrix *graph = NULL;
    uint64_t nrows, ncols, nnz, triangles, length;
    char method[1000];

    SparringStatus status = sparring_device_new("cpu", 0, 0, &cpu); /* all threads, no limit of memory */
    if (status == SPARRING_OK)
        status = argc > 1 ? sparring_matrix_read(cpu, SPARRING_BOOL, argv[1], &graph) : karate_club(&graph);
    if (status == SPARRING_OK)
        status = sparring_matrix_shape(graph, &nrows, &ncols);
    if (status == SPARRING_OK)
        status = sparring_matrix_nnz(graph, &nnz);
    if (status == SPARRING_OK)
        status = sparring_triangles(cpu, graph, SPARRING_TRIANGLES_AUTO, &triangles, method, sizeof method, &length);
    if (status == SPARRING_OK) {
        printf("%llu x %llu, %llu entries\n", (unsigned long long)nrows, (unsigned long long)ncols,
               (unsigned long long)nnz);
        printf("%llu triangles (%s)\n", (unsigned long long)triangles, method);
    } else {
        fprintf(stderr, "triangles: %s (%s)\n", sparring_last_error(), sparring_status_name(status));
    }
    sparring_matrix_free(graph); /* NULL is allowed */
    sparring_device_free(cpu);
    return status == SPARRING_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
