#pragma once
#include <spawn.h>
#include <sys/prctl.h>

/* prctl is variadic, which Swift cannot import. */
static inline int process_set_dumpable(int isDumpable) {
    return prctl(PR_SET_DUMPABLE, isDumpable, 0, 0, 0);
}

/* spawn.h hides both behind _GNU_SOURCE, which Swift's view of the C library does not set. */
static inline short process_spawn_setsid(void) {
    return 0x80; /* POSIX_SPAWN_SETSID */
}
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

/* The same for these. */
int pipe2(int descriptors[2], int flags);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
