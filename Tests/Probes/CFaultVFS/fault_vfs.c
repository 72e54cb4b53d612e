#include "fault_vfs.h"

#include <sqlite3.h>
#include <string.h>

#include "fault_plan.h"

/* In a file's shared memory: which lock a checkpoint holds. */
#define CHECKPOINT_LOCK 1

typedef struct {
    sqlite3_file base;
    uint32_t role;
    bool is_in_reach;
    /* Of a WAL: the last write was its header, which even NORMAL syncs. */
    bool header_is_fresh;
    /* Follows in the same allocation. */
    sqlite3_file *real;
} fault_file;

_Static_assert(FAULT_IOERR_READ == SQLITE_IOERR_READ && FAULT_IOERR_SHORT_READ == SQLITE_IOERR_SHORT_READ, "codes");
_Static_assert(FAULT_IOERR_WRITE == SQLITE_IOERR_WRITE && FAULT_IOERR_FSYNC == SQLITE_IOERR_FSYNC, "codes");
_Static_assert(FAULT_IOERR_TRUNCATE == SQLITE_IOERR_TRUNCATE, "codes");
_Static_assert(FAULT_IOERR_SHMLOCK == SQLITE_IOERR_SHMLOCK && FAULT_IOERR_SHMMAP == SQLITE_IOERR_SHMMAP, "codes");

static sqlite3_vfs *real_vfs;
static sqlite3_vfs fault_vfs;
static _Thread_local bool is_checkpointing;

static fault_file *in(sqlite3_file *file) { return (fault_file *)file; }
static sqlite3_file *real(sqlite3_file *file) { return in(file)->real; }

static fault_verdict begin(sqlite3_file *file, fault_operation operation) {
    if (!in(file)->is_in_reach) return (fault_verdict){false, FAULT_FAIL, SQLITE_OK};
    return fault_begin(operation, in(file)->role);
}

static void note(sqlite3_file *file, fault_operation operation, int64_t offset, int64_t length, const void *bytes) {
    if (in(file)->is_in_reach) fault_note(operation, in(file)->role, offset, length, bytes);
}

/* Files */

static int do_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int do_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    fault_verdict verdict = begin(file, FAULT_READ);
    if (!fault_is_left_out(verdict))
        return fault_end(verdict, real(file)->pMethods->xRead(real(file), bytes, count, offset));
    if (verdict.action == FAULT_FAIL_HALFWAY) {
        memset(bytes, 0, (size_t)count);
        real(file)->pMethods->xRead(real(file), bytes, count / 2, offset);
    }
    return fault_result(verdict);
}

static int do_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    fault_verdict verdict = begin(file, FAULT_WRITE);
    bool is_left_out = fault_is_left_out(verdict);
    int length = !is_left_out ? count : verdict.action == FAULT_FAIL_HALFWAY ? count / 2 : 0;
    int code = SQLITE_OK;
    if (length > 0) {
        code = real(file)->pMethods->xWrite(real(file), bytes, length, offset);
        if (code == SQLITE_OK) note(file, FAULT_WRITE, offset, length, bytes);
    }
    in(file)->header_is_fresh = offset == 0;
    return is_left_out ? fault_result(verdict) : fault_end(verdict, code);
}

static int do_truncate(sqlite3_file *file, sqlite3_int64 size) {
    fault_verdict verdict = begin(file, FAULT_TRUNCATE);
    if (fault_is_left_out(verdict)) return fault_result(verdict);
    int code = real(file)->pMethods->xTruncate(real(file), size);
    if (code == SQLITE_OK) note(file, FAULT_TRUNCATE, size, 0, NULL);
    return fault_end(verdict, code);
}

/* The WAL's sync at a commit is the one that neither belongs to a checkpoint nor follows a new header. */
static bool is_commit_sync(sqlite3_file *file) {
    return in(file)->role == FAULT_WAL && !is_checkpointing && !in(file)->header_is_fresh;
}

static int do_sync(sqlite3_file *file, int flags) {
    if (fault_commit_syncs_are_skipped() && in(file)->is_in_reach && is_commit_sync(file)) return SQLITE_OK;
    in(file)->header_is_fresh = false;
    fault_verdict verdict = begin(file, FAULT_SYNC);
    if (fault_is_left_out(verdict)) {
        note(file, FAULT_SYNC, 0, -1, NULL);
        return fault_result(verdict);
    }
    int code = real(file)->pMethods->xSync(real(file), flags);
    if (code == SQLITE_OK) note(file, FAULT_SYNC, 0, 0, NULL);
    return fault_end(verdict, code);
}

static int do_size(sqlite3_file *file, sqlite3_int64 *size) {
    fault_verdict verdict = begin(file, FAULT_SIZE);
    if (fault_is_left_out(verdict)) return fault_result(verdict);
    return fault_end(verdict, real(file)->pMethods->xFileSize(real(file), size));
}

static int do_lock(sqlite3_file *file, int level) {
    fault_verdict verdict = begin(file, FAULT_LOCK);
    if (fault_is_left_out(verdict)) return fault_result(verdict);
    return fault_end(verdict, real(file)->pMethods->xLock(real(file), level));
}

static int do_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }

static int check_reserved(sqlite3_file *file, int *result) {
    return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }
static int characteristics(sqlite3_file *file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }

/* Shared memory */

static int shm_map(sqlite3_file *file, int page, int size, int extends, void volatile **memory) {
    fault_verdict verdict = begin(file, FAULT_SHM_MAP);
    if (fault_is_left_out(verdict)) return fault_result(verdict);
    return fault_end(verdict, real(file)->pMethods->xShmMap(real(file), page, size, extends, memory));
}

static int shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    fault_verdict verdict = {false, FAULT_FAIL, SQLITE_OK};
    /* SQLite relies on unlocking, which cannot fail. */
    if (flags & SQLITE_SHM_LOCK) verdict = begin(file, FAULT_SHM_LOCK);
    if (fault_is_left_out(verdict)) return fault_result(verdict);
    int code = real(file)->pMethods->xShmLock(real(file), offset, count, flags);
    if (offset == CHECKPOINT_LOCK && count == 1 && (flags & SQLITE_SHM_EXCLUSIVE))
        is_checkpointing = (flags & SQLITE_SHM_LOCK) && code == SQLITE_OK;
    return fault_end(verdict, code);
}

static void shm_barrier(sqlite3_file *file) {
    fault_verdict verdict = begin(file, FAULT_SHM_BARRIER);
    real(file)->pMethods->xShmBarrier(real(file));
    fault_end(verdict, SQLITE_OK);
}

static int shm_unmap(sqlite3_file *file, int deletes) { return real(file)->pMethods->xShmUnmap(real(file), deletes); }

static int fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **memory) {
    fault_verdict verdict = begin(file, FAULT_FETCH);
    if (fault_is_left_out(verdict)) return fault_result(verdict);
    return fault_end(verdict, real(file)->pMethods->xFetch(real(file), offset, count, memory));
}

static int unfetch(sqlite3_file *file, sqlite3_int64 offset, void *memory) {
    fault_verdict verdict = begin(file, FAULT_UNFETCH);
    return fault_end(verdict, real(file)->pMethods->xUnfetch(real(file), offset, memory));
}

static const sqlite3_io_methods methods = {
    .iVersion = 3,
    .xClose = do_close,
    .xRead = do_read,
    .xWrite = do_write,
    .xTruncate = do_truncate,
    .xSync = do_sync,
    .xFileSize = do_size,
    .xLock = do_lock,
    .xUnlock = do_unlock,
    .xCheckReservedLock = check_reserved,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
    .xFetch = fetch,
    .xUnfetch = unfetch,
};

/* The file system */

static uint32_t role(int flags) {
    if (flags & SQLITE_OPEN_MAIN_DB) return FAULT_DATABASE;
    if (flags & SQLITE_OPEN_WAL) return FAULT_WAL;
    if (flags & SQLITE_OPEN_MAIN_JOURNAL) return FAULT_JOURNAL;
    return FAULT_OTHER;
}

static uint32_t role_of_name(const char *path) {
    size_t length = path ? strlen(path) : 0;
    if (length > 4 && strcmp(path + length - 4, "-wal") == 0) return FAULT_WAL;
    if (length > 8 && strcmp(path + length - 8, "-journal") == 0) return FAULT_JOURNAL;
    return FAULT_OTHER;
}

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *got) {
    fault_file *opened = in(file);
    *opened = (fault_file){.role = role(flags), .is_in_reach = fault_is_in_reach(path)};
    opened->real = (sqlite3_file *)(opened + 1);
    opened->real->pMethods = NULL;
    fault_verdict verdict = begin(file, FAULT_OPEN);
    if (fault_is_left_out(verdict)) return fault_result(verdict);
    int code = real_vfs->xOpen(real_vfs, path, opened->real, flags, got);
    /* Without methods SQLite does not close the file. */
    if (opened->real->pMethods) opened->base.pMethods = &methods;
    return fault_end(verdict, code);
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int syncs) {
    if (!fault_is_in_reach(path)) return real_vfs->xDelete(real_vfs, path, syncs);
    fault_verdict verdict = fault_begin(FAULT_DELETE, role_of_name(path));
    if (fault_is_left_out(verdict)) return fault_result(verdict);
    return fault_end(verdict, real_vfs->xDelete(real_vfs, path, syncs));
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
    return fault_sleep_is_skipped() ? microseconds : real_vfs->xSleep(real_vfs, microseconds);
}

/* The others are the real ones. They use only `pAppData` and `mxPathname` of the VFS that they are given. */
int32_t fault_vfs_register(void) {
    if (real_vfs) return SQLITE_OK;
    sqlite3_vfs *found = sqlite3_vfs_find(NULL);
    if (!found) return SQLITE_NOTFOUND;
    real_vfs = found;
    fault_vfs = *found;
    fault_vfs.zName = "fault";
    fault_vfs.szOsFile = (int)sizeof(fault_file) + found->szOsFile;
    fault_vfs.xOpen = vfs_open;
    fault_vfs.xDelete = vfs_delete;
    fault_vfs.xSleep = vfs_sleep;
    return sqlite3_vfs_register(&fault_vfs, 1);
}
