#pragma once
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/vfs.h>

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
int accept4(int socket, struct sockaddr *address, unsigned *length, int flags);
int renameat2(int fromDirectory, const char *from, int toDirectory, const char *to, unsigned flags);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);

/* The magic number of the file system that a directory is on; 0 if the system does not say. In Swift, statfs is a type and a function. */
static inline unsigned long process_file_system_magic(const char *path) {
    struct statfs info;
    return statfs(path, &info) == 0 ? (unsigned long)info.f_type : 0;
}
