/*
 * A SQLite VFS that stands before the system's own one: it counts, fails, delays and records what SQLite does to its
 * files. For tests alone; nothing in the library knows of it.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* What SQLite asks of a file. Each is one bit, so that a plan can be made for several. */
typedef enum {
    FAULT_OPEN = 1 << 0,
    FAULT_READ = 1 << 1,
    FAULT_WRITE = 1 << 2,
    FAULT_SYNC = 1 << 3,
    FAULT_TRUNCATE = 1 << 4,
    FAULT_DELETE = 1 << 5,
    /* Locks of the rollback journal's protocol; taking, not leaving. */
    FAULT_LOCK = 1 << 6,
    FAULT_SHM_MAP = 1 << 7,
    /* Locks of the WAL's protocol; taking, not leaving. */
    FAULT_SHM_LOCK = 1 << 8,
    FAULT_SHM_BARRIER = 1 << 9,
    FAULT_FETCH = 1 << 10,
    /* A checkpoint does it between reading the WAL index and using it, if the index has changed. */
    FAULT_UNFETCH = 1 << 11,
    FAULT_SIZE = 1 << 12,
    FAULT_EVERYTHING = (1 << 13) - 1,
} fault_operation;

typedef enum {
    FAULT_DATABASE = 1 << 0,
    FAULT_WAL = 1 << 1,
    FAULT_JOURNAL = 1 << 2,
    FAULT_OTHER = 1 << 3,
    FAULT_ANY_FILE = (1 << 4) - 1,
} fault_file_role;

typedef enum {
    /* The operation is left out and `code` returned. */
    FAULT_FAIL,
    /* A write writes its first half, a read its first half and zeros, and `code` is returned; else as FAULT_FAIL. */
    FAULT_FAIL_HALFWAY,
    /* The operation is left out and success returned. */
    FAULT_LIE,
    FAULT_KILL_BEFORE,
    FAULT_KILL_AFTER,
    /* Stops the calling thread before the operation until fault_vfs_resume(). */
    FAULT_PAUSE,
    /* Calls fault_vfs_on_call()'s function before the operation. */
    FAULT_CALL,
} fault_action;

typedef struct {
    uint32_t operations;
    uint32_t files;
    /* The first operation of these that is concerned, from 1 on. */
    uint64_t first;
    /* How many from then on; 0: for ever. */
    uint64_t count;
    fault_action action;
    /* SQLite's extended result code. */
    int32_t code;
} fault_plan;

/* SQLite's extended codes, which Swift cannot import from its header. */
enum {
    FAULT_IOERR_READ = 10 | 1 << 8,
    FAULT_IOERR_SHORT_READ = 10 | 2 << 8,
    FAULT_IOERR_WRITE = 10 | 3 << 8,
    FAULT_IOERR_FSYNC = 10 | 4 << 8,
    FAULT_IOERR_TRUNCATE = 10 | 6 << 8,
    FAULT_IOERR_SHMLOCK = 10 | 20 << 8,
    FAULT_IOERR_SHMMAP = 10 | 21 << 8,
};

/* Makes it the process's default VFS. May be called again. Gives SQLite's result code. */
int32_t fault_vfs_register(void);
/* Only files whose path begins so are touched; NULL: all. */
void fault_vfs_limit(const char *prefix);

/* Counts from 1 again. One plan at a time. */
void fault_vfs_arm(const fault_plan *plan);
/* Gives the number of operations that were concerned. */
uint64_t fault_vfs_disarm(void);
/* Operations that the plan speaks of, concerned or not, since it was armed. */
uint64_t fault_vfs_matches(void);
/* Operations of a kind since the process began. */
uint64_t fault_vfs_count(fault_operation operation);

/* Whether a thread has come to a pause, within that time. */
bool fault_vfs_wait_for_pause(uint32_t milliseconds);
void fault_vfs_resume(void);
void fault_vfs_on_call(void (*function)(void *), void *argument);

/* SQLite's own waits, those of the busy time-out among them, take no time. */
void fault_vfs_skip_sleep(bool is_on);
/* Leaves out what `PRAGMA synchronous = NORMAL` leaves out: the WAL's sync at a commit. */
void fault_vfs_skip_commit_syncs(bool is_on);

/* What was done to databases and WALs, in its order, to see what a loss of power would leave of it. */
typedef struct {
    /* FAULT_WRITE, FAULT_SYNC or FAULT_TRUNCATE; 0 for a mark. */
    uint32_t operation;
    uint32_t file;
    int64_t offset;
    /* Of a sync that failed: -1. */
    int64_t length;
    /* Of a write. */
    const uint8_t *bytes;
    int64_t mark;
} fault_record;

void fault_vfs_record(bool is_on);
/* Notes something between the operations, such as what was acknowledged. */
void fault_vfs_mark(int64_t value);
uint64_t fault_vfs_record_count(void);
/* Valid until the record is cleared. */
fault_record fault_vfs_record_at(uint64_t index);
void fault_vfs_clear_record(void);

/*
 * A process that is killed at one call of the system: whatever it does, also without SQLite. It tells by getppid(2) from where to
 * where its calls count. Those that change nothing outside of it are left out.
 */
typedef struct {
    uint64_t calls;
    bool is_killed;
    /* The exit status; a signal is negative. */
    int status;
} fault_death;

/* Runs a program and kills it before its call of this number; 0 for never. Gives an error number. */
int fault_kill_at_call(char *const arguments[], uint64_t number, fault_death *end);
/*
 * Runs a program and lets its call of this number fail with `error`, without being made. Counted are calls that ask something of a
 * file: what opens, writes, syncs, locks and names it.
 */
int fault_fail_at_call(char *const arguments[], uint64_t number, int error, fault_death *end);
