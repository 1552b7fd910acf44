/* Refuses chosen requests for memory, for tests/test_memory_refused.py, which loads this library before all others.
 *
 * `refuse_memory(bytes, from, to)` refuses, of the following requests of at least `bytes` bytes, those with the numbers
 * from `from` to `to - 1`. `allow_memory()` grants all requests and returns the number of requests since then. Memory
 * is refused as a system without memory does it: the allocation functions return NULL.
 */

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern size_t malloc_usable_size(void *);

static _Atomic size_t smallest = SIZE_MAX;
static _Atomic long requests, first_refused, first_granted;

static int is_refused(size_t bytes) {
    if (bytes < smallest)
        return 0;
    long request = atomic_fetch_add(&requests, 1);
    if (request < first_refused || request >= first_granted)
        return 0;
    errno = ENOMEM;
    return 1;
}

void refuse_memory(size_t bytes, long from, long to) {
    requests = 0;
    first_refused = from;
    first_granted = to;
    smallest = bytes;
}

long allow_memory(void) {
    smallest = SIZE_MAX;
    return requests;
}

void *malloc(size_t bytes) { return is_refused(bytes) ? NULL : __libc_malloc(bytes); }

void *calloc(size_t count, size_t bytes) { return is_refused(count * bytes) ? NULL : __libc_calloc(count, bytes); }

void *realloc(void *start, size_t bytes) {
    int grows = start == NULL || malloc_usable_size(start) < bytes;
    return grows && is_refused(bytes) ? NULL : __libc_realloc(start, bytes);
}

int posix_memalign(void **start, size_t alignment, size_t bytes) {
    if (is_refused(bytes))
        return ENOMEM;
    *start = __libc_memalign(alignment, bytes);
    return *start == NULL ? ENOMEM : 0;
}
