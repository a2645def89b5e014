/* An allocator that refuses one request, number FAIL_AT among those of at least FAIL_FROM bytes. It reports the refusal
 * on standard error, and forwards all other requests to glibc. */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static atomic_long left = -1;
static size_t from = (size_t)-1;

__attribute__((constructor)) static void begin(void) {
    const char *at = getenv("FAIL_AT"), *bytes = getenv("FAIL_FROM");
    if (at && bytes) {
        atomic_store(&left, atol(at));
        from = (size_t)atol(bytes);
    }
}

static int refuses(size_t bytes) {
    static const char said[] = "[refused]\n";
    if (bytes < from || atomic_fetch_sub(&left, 1) != 0) return 0;
    if (write(2, said, sizeof said - 1) < 0) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes) { return refuses(bytes) ? NULL : __libc_malloc(bytes); }
void *calloc(size_t n, size_t bytes) { return n && refuses(n * bytes) ? NULL : __libc_calloc(n, bytes); }
void *realloc(void *old, size_t bytes) { return refuses(bytes) ? NULL : __libc_realloc(old, bytes); }
void *memalign(size_t align, size_t bytes) { return refuses(bytes) ? NULL : __libc_memalign(align, bytes); }
void *aligned_alloc(size_t align, size_t bytes) { return memalign(align, bytes); }
int posix_memalign(void **to, size_t align, size_t bytes) {
    void *p = memalign(align, bytes);
    if (!p) return ENOMEM;
    *to = p;
    return 0;
}
