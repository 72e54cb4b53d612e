#pragma once
#include <linux/stat.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
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

int statx(int directory, const char *path, int flags, unsigned mask, struct statx *found);

/* Which file it is, and how long. Asks for nothing else: once a file was asked for its times, Linux (from 6.13, multigrain timestamps)
   writes new ones with its next change, and a file system without a journal then waits for the inode at each sync. */
static inline int process_file_glance(
    int directory, const char *path, int flags, uint64_t *device, uint64_t *inode, int64_t *size) {
    struct statx found;
    if (statx(directory, path, flags, STATX_INO | STATX_SIZE, &found) != 0) return -1;
    *device = makedev(found.stx_dev_major, found.stx_dev_minor);
    *inode = found.stx_ino;
    *size = (int64_t)found.stx_size;
    return 0;
}

/* The flag with which an empty path stands for the directory itself, or for any other open file. */
static inline int process_at_empty_path(void) {
    return 0x1000; /* AT_EMPTY_PATH */
}
