#define _GNU_SOURCE
#include "CPostgreSQL.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

/* The interface of libpq has kept this number since PostgreSQL 8.2. */
static const char library[] = "libpq.so.5";

#define LIBPQ_POINTER(type, name, parameters, arguments) type (*name) parameters;
static struct {
    LIBPQ_BEGINNINGS(LIBPQ_POINTER)
    LIBPQ_FUNCTIONS(LIBPQ_POINTER)
} libpq;

static const char *failure = "it is not loaded";

static void load(void) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        failure = "libpq.so.5 is not on this machine, or cannot be loaded";
        return;
    }
#define LIBPQ_FIND(type, function, parameters, arguments) \
    if ((libpq.function = (type (*) parameters)dlsym(handle, "PQ" #function)) == NULL) { \
        failure = "libpq is older than that of PostgreSQL 14: it lacks PQ" #function; \
        return; \
    }
    LIBPQ_BEGINNINGS(LIBPQ_FIND)
    LIBPQ_FUNCTIONS(LIBPQ_FIND)
    int (*isThreadSafe)(void) = (int (*)(void))dlsym(handle, "PQisthreadsafe");
    if (isThreadSafe == NULL || isThreadSafe() != 1) {
        failure = "libpq was built without threads";
        return;
    }
    failure = NULL;
}

const char *libpq_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return failure;
}

#define LIBPQ_BEGIN(type, function, parameters, arguments) \
    type LibPQ##function parameters { return libpq_load() == NULL ? libpq.function arguments : NULL; }
LIBPQ_BEGINNINGS(LIBPQ_BEGIN)

#define LIBPQ_FORWARD(type, function, parameters, arguments) \
    type LibPQ##function parameters { return libpq.function arguments; }
LIBPQ_FUNCTIONS(LIBPQ_FORWARD)
