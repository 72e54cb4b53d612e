#pragma once
#include <sys/prctl.h>

/* prctl is variadic, which Swift cannot import. */
static inline int process_set_dumpable(int isDumpable) {
    return prctl(PR_SET_DUMPABLE, isDumpable, 0, 0, 0);
}
