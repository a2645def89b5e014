/* Threads in a C program: none unless requested, and own threads in a child of fork(). Prints "ok". */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sparring.h"

#define EXPECT(x)                                                                                              \
    do {                                                                                                       \
        if (!(x)) {                                                                                            \
            fprintf(stderr, "fork.c:%d: not so: %s (last error: \"%s\")\n", __LINE__, #x, sparring_last_error()); \
            _exit(EXIT_FAILURE);                                                                               \
        }                                                                                                      \
    } while (0)

enum { N = 40000 };

static int threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = -2;
    while (tasks != NULL && readdir(tasks) != NULL) n++;
    if (tasks != NULL) closedir(tasks);
    return n;
}

/* The square of a matrix with two entries per row, which has three per row. */
static void square(const SparringDevice *device, const SparringMatrix *a)
{
    SparringMatrix *c = NULL;
    uint64_t nnz = 0;
    EXPECT(sparring_mxm(device, "plus_times", a, a, NULL, &c) == SPARRING_OK);
    EXPECT(sparring_matrix_nnz(c, &nnz) == SPARRING_OK && nnz == 3 * (uint64_t)N - 3);
    EXPECT(sparring_matrix_free(c) == SPARRING_OK);
}

int main(void)
{
    static uint32_t rows[2 * N], cols[2 * N];
    static double values[2 * N];
    SparringMatrix *a = NULL;
    SparringDevice *two = NULL, *all = NULL, *fresh = NULL;
    uint64_t len = 0;
    int status = 0;
    pid_t child;

    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t j = i; j < N && j < i + 2; j++, len++) {
            rows[len] = i;
            cols[len] = j;
            values[len] = 1.5;
        }
    }
    EXPECT(sparring_matrix_from_coo(SPARRING_F64, N, N, rows, cols, values, len, &a) == SPARRING_OK);
    EXPECT(threads() == 1);
    EXPECT(sparring_device_new("cpu", 2, 0, &two) == SPARRING_OK);
    EXPECT(sparring_device_new("cpu", 0, 0, &all) == SPARRING_OK);
    square(two, a);
    square(all, a);

    child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        /* Ends a child that waits for threads of the parent. */
        alarm(30);
        square(two, a);
        square(all, a);
        EXPECT(sparring_device_new("cpu", 2, 0, &fresh) == SPARRING_OK);
        square(fresh, a);
        EXPECT(threads() > 2);
        EXPECT(sparring_device_free(fresh) == SPARRING_OK && sparring_device_free(two) == SPARRING_OK);
        _exit(EXIT_SUCCESS);
    }
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
    square(two, a);
    EXPECT(sparring_device_free(two) == SPARRING_OK && sparring_device_free(all) == SPARRING_OK);
    EXPECT(sparring_matrix_free(a) == SPARRING_OK && sparring_handles_alive() == 0);
    puts("ok");
    return EXIT_SUCCESS;
}
