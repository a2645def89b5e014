/* Breadth-first search and PageRank by GraphBLAS operations, compared with plain loops.
 *
 * The graph is a web of N pages with up to LINKS links each; every eleventh page has no links.
 *
 * How to build it: capi/README.md.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sparring.h"

enum { N = 500, LINKS = 4, SWEEPS = 100 };

static const double damping = 0.85, tolerance = 1e-12;

/* Exits on error; a library would return the status to its caller. */
static void check(SparringStatus status)
{
    if (status != SPARRING_OK) {
        fprintf(stderr, "graph: %s (%s)\n", sparring_last_error(), sparring_status_name(status));
        exit(EXIT_FAILURE);
    }
}

/* The k-th link of a page; -1 for none. */
static int link_of(int page, int k)
{
    return page % 11 == 10 || page < 40 * k ? -1 : (page / (k + 2) + 120 * k) % N;
}

/* levels<frontier> = depth, frontier<not levels> = frontier any.pair A, until the frontier is empty: levels(i) becomes
 * the length of the shortest path from `start` to page i, where there is one. */
static void bfs(const SparringDevice *device, const SparringMatrix *a, uint64_t start, SparringVector *levels)
{
    const SparringDescriptor inside = {.structure = 1};
    const SparringDescriptor outside = {.structure = 1, .complement = 1, .replace = 1};
    const uint8_t yes = 1;
    uint64_t reached = 1;
    SparringVector *frontier;
    SparringSemiring *any_pair;
    SparringUnaryOp *constant, *of_depth;
    SparringScalar *scalar;

    check(sparring_vector_from_entries(SPARRING_BOOL, N, &start, &yes, 1, &frontier));
    check(sparring_semiring_new("any_pair", SPARRING_BOOL, SPARRING_BOOL, &any_pair));
    check(sparring_unary_op_new("s", SPARRING_BOOL, SPARRING_I64, &constant)); /* f(a, s) = s */
    check(sparring_scalar_new(SPARRING_I64, NULL, &scalar));
    for (int64_t depth = 0; reached; depth++) {
        check(sparring_scalar_set(scalar, &depth));
        check(sparring_unary_op_with(constant, scalar, &of_depth));
        check(sparring_vector_apply(device, levels, frontier, NULL, of_depth, frontier, &inside));
        check(sparring_unary_op_free(of_depth));
        check(sparring_vector_vxm(device, frontier, levels, NULL, any_pair, frontier, a, &outside));
        check(sparring_vector_nvals(frontier, &reached));
    }
    check(sparring_scalar_free(scalar));
    check(sparring_unary_op_free(constant));
    check(sparring_semiring_free(any_pair));
    check(sparring_vector_free(frontier));
}

/* r = (1 - d)/n + d (A^T (r / degree) + rank of pages without links, spread evenly), until convergence. */
static void pagerank(const SparringDevice *device, const SparringMatrix *a, SparringVector *rank)
{
    const SparringDescriptor outside = {.structure = 1, .complement = 1, .replace = 1};
    double held, change = 1;
    SparringVector *degree, *share, *next, *hanging;
    SparringScalar *scalar;
    SparringMonoid *sum, *most;
    SparringSemiring *plus_first;
    SparringBinaryOp *plus, *times, *divide, *apart;
    SparringUnaryOp *constant, *base, *damped;

    check(sparring_vector_new(SPARRING_F64, N, &degree));
    check(sparring_vector_new(SPARRING_F64, N, &share));
    check(sparring_vector_new(SPARRING_F64, N, &next));
    check(sparring_vector_new(SPARRING_F64, N, &hanging));
    check(sparring_scalar_new(SPARRING_F64, &damping, &scalar));
    check(sparring_monoid_new("plus", SPARRING_F64, &sum));
    check(sparring_monoid_new("max", SPARRING_F64, &most));
    check(sparring_semiring_new("plus_first", SPARRING_F64, SPARRING_F64, &plus_first));
    check(sparring_binary_op_new("plus", SPARRING_F64, SPARRING_F64, &plus));
    check(sparring_binary_op_new("times", SPARRING_F64, SPARRING_F64, &times));
    check(sparring_binary_op_new("div", SPARRING_F64, SPARRING_F64, &divide));
    check(sparring_binary_op_new("abs(a - b)", SPARRING_F64, SPARRING_F64, &apart));
    check(sparring_unary_op_new("s", SPARRING_F64, 0, &constant));
    check(sparring_binary_op_bind_first(times, scalar, &damped));

    check(sparring_vector_reduce(device, degree, NULL, NULL, sum, a, NULL));
    for (int sweep = 0; sweep < SWEEPS && change > tolerance; sweep++) {
        /* Total rank of the pages without links; the scalar is empty if there are none. */
        check(sparring_vector_update(device, hanging, degree, NULL, rank, &outside));
        check(sparring_vector_reduce_scalar(device, scalar, NULL, sum, hanging));
        if (sparring_scalar_get(scalar, &held) == SPARRING_NO_VALUE)
            held = 0;
        held = (1 - damping) / N + damping * held / N;
        check(sparring_scalar_set(scalar, &held));
        check(sparring_unary_op_with(constant, scalar, &base));
        check(sparring_vector_apply(device, next, NULL, NULL, base, rank, NULL));
        check(sparring_unary_op_free(base));

        check(sparring_vector_ewise_mult(device, share, NULL, NULL, divide, rank, degree, NULL));
        check(sparring_vector_vxm(device, share, NULL, NULL, plus_first, share, a, NULL));
        check(sparring_vector_apply(device, next, NULL, plus, damped, share, NULL));

        check(sparring_vector_ewise_mult(device, share, NULL, NULL, apart, rank, next, NULL));
        check(sparring_vector_reduce_scalar(device, scalar, NULL, most, share));
        check(sparring_scalar_get(scalar, &change));
        check(sparring_vector_update(device, rank, NULL, NULL, next, NULL));
    }

    check(sparring_unary_op_free(damped));
    check(sparring_unary_op_free(constant));
    check(sparring_binary_op_free(apart));
    check(sparring_binary_op_free(divide));
    check(sparring_binary_op_free(times));
    check(sparring_binary_op_free(plus));
    check(sparring_semiring_free(plus_first));
    check(sparring_monoid_free(most));
    check(sparring_monoid_free(sum));
    check(sparring_scalar_free(scalar));
    check(sparring_vector_free(hanging));
    check(sparring_vector_free(next));
    check(sparring_vector_free(share));
    check(sparring_vector_free(degree));
}

/* Both algorithms by definition. */
static void plainly(int start, int64_t levels[N], double rank[N])
{
    for (int i = 0; i < N; i++)
        levels[i] = i == start ? 0 : -1;
    for (int64_t depth = 0; depth < N; depth++)
        for (int i = 0; i < N; i++)
            for (int k = 0; k < LINKS; k++)
                if (levels[i] == depth && link_of(i, k) >= 0 && levels[link_of(i, k)] < 0)
                    levels[link_of(i, k)] = depth + 1;

    for (int i = 0; i < N; i++)
        rank[i] = 1.0 / N;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double next[N] = {0}, held = 0;
        for (int i = 0; i < N; i++) {
            int degree = 0;
            for (int k = 0; k < LINKS; k++)
                degree += link_of(i, k) >= 0;
            for (int k = 0; k < LINKS; k++)
                if (link_of(i, k) >= 0)
                    next[link_of(i, k)] += rank[i] / degree;
            if (degree == 0)
                held += rank[i];
        }
        for (int i = 0; i < N; i++)
            rank[i] = (1 - damping) / N + damping * (next[i] + held / N);
    }
}

int main(void)
{
    static uint32_t rows[N * LINKS], cols[N * LINKS];
    static double ones[N * LINKS], rank[N], expected_rank[N];
    static uint64_t reached[N];
    static int64_t levels[N], expected_levels[N];
    uint64_t len = 0, found = 0;
    int64_t deepest = 0;
    int first = 0;
    SparringDevice *cpu;
    SparringMatrix *links, *linked;
    SparringVector *of_level, *of_rank;

    for (int page = 0; page < N; page++)
        for (int k = 0; k < LINKS; k++)
            if (link_of(page, k) >= 0) {
                rows[len] = (uint32_t)page;
                cols[len] = (uint32_t)link_of(page, k);
                ones[len++] = 1;
            }
    check(sparring_device_new("cpu", 0, 0, &cpu));
    check(sparring_matrix_from_coo(SPARRING_F64, N, N, rows, cols, ones, len, &links));
    check(sparring_matrix_cast(links, SPARRING_BOOL, 0, &linked));
    plainly(N - 2, expected_levels, expected_rank);

    check(sparring_vector_new(SPARRING_I64, N, &of_level));
    bfs(cpu, linked, N - 2, of_level);
    check(sparring_vector_nvals(of_level, &found));
    check(sparring_vector_entries(of_level, reached, levels, N));
    for (uint64_t p = 0; p < found; p++) {
        if (levels[p] != expected_levels[reached[p]])
            return fprintf(stderr, "level of %d: %d\n", (int)reached[p], (int)levels[p]), EXIT_FAILURE;
        expected_levels[reached[p]] = -1;
        deepest = levels[p] > deepest ? levels[p] : deepest;
    }
    for (int i = 0; i < N; i++)
        if (expected_levels[i] >= 0)
            return fprintf(stderr, "page %d was not reached\n", i), EXIT_FAILURE;
    printf("%d of %d pages within %d links of page %d\n", (int)found, N, (int)deepest, N - 2);

    for (int i = 0; i < N; i++)
        rank[i] = 1.0 / N;
    check(sparring_vector_from_dense(SPARRING_F64, rank, N, &of_rank));
    pagerank(cpu, links, of_rank);
    check(sparring_vector_entries(of_rank, NULL, rank, N));
    for (int i = 0; i < N; i++) {
        const double off = rank[i] - expected_rank[i];
        if (off > 1e-9 || off < -1e-9)
            return fprintf(stderr, "rank of %d: %g, expected %g\n", i, rank[i], expected_rank[i]), EXIT_FAILURE;
        first = rank[i] > rank[first] ? i : first;
    }
    printf("page %d ranks first\n", first);

    check(sparring_vector_free(of_rank));
    check(sparring_vector_free(of_level));
    check(sparring_matrix_free(linked));
    check(sparring_matrix_free(links));
    check(sparring_device_free(cpu));
    return sparring_handles_alive() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
