#include "fault_plan.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static fault_plan plan;
static bool is_armed;
static uint64_t matches, hits;
static bool is_paused, is_resumed;
static void (*call)(void *);
static void *call_argument;
static char prefix[1024];

static atomic_ullong counts[32];
static atomic_bool skips_sleep, skips_commit_syncs;

bool fault_sleep_is_skipped(void) { return skips_sleep; }
bool fault_commit_syncs_are_skipped(void) { return skips_commit_syncs; }
void fault_vfs_skip_sleep(bool is_on) { skips_sleep = is_on; }
void fault_vfs_skip_commit_syncs(bool is_on) { skips_commit_syncs = is_on; }

void fault_vfs_limit(const char *path) {
    pthread_mutex_lock(&lock);
    strncpy(prefix, path ? path : "", sizeof prefix - 1);
    pthread_mutex_unlock(&lock);
}

bool fault_is_in_reach(const char *path) {
    pthread_mutex_lock(&lock);
    size_t length = strlen(prefix);
    bool is_in_reach = length == 0 || (path && strncmp(path, prefix, length) == 0);
    pthread_mutex_unlock(&lock);
    return is_in_reach;
}

void fault_vfs_arm(const fault_plan *new_plan) {
    pthread_mutex_lock(&lock);
    plan = *new_plan;
    is_armed = true;
    matches = hits = 0;
    is_paused = is_resumed = false;
    pthread_mutex_unlock(&lock);
}

uint64_t fault_vfs_disarm(void) {
    pthread_mutex_lock(&lock);
    is_armed = false;
    is_resumed = true;
    uint64_t result = hits;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
    return result;
}

uint64_t fault_vfs_matches(void) {
    pthread_mutex_lock(&lock);
    uint64_t result = matches;
    pthread_mutex_unlock(&lock);
    return result;
}

uint64_t fault_vfs_count(fault_operation operation) { return counts[__builtin_ctz(operation)]; }

void fault_vfs_on_call(void (*function)(void *), void *argument) {
    pthread_mutex_lock(&lock);
    call = function;
    call_argument = argument;
    pthread_mutex_unlock(&lock);
}

bool fault_vfs_wait_for_pause(uint32_t milliseconds) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += milliseconds / 1000;
    end.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec += 1;
        end.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&lock);
    int status = 0;
    while (!is_paused && status != ETIMEDOUT) status = pthread_cond_timedwait(&change, &lock, &end);
    bool result = is_paused;
    pthread_mutex_unlock(&lock);
    return result;
}

void fault_vfs_resume(void) {
    pthread_mutex_lock(&lock);
    is_resumed = true;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
}

fault_verdict fault_begin(fault_operation operation, uint32_t file) {
    fault_verdict verdict = {false, FAULT_FAIL, SQLITE_OK};
    counts[__builtin_ctz(operation)] += 1;
    pthread_mutex_lock(&lock);
    if (!is_armed || !(plan.operations & operation) || !(plan.files & file)) {
        pthread_mutex_unlock(&lock);
        return verdict;
    }
    matches += 1;
    if (matches < plan.first || (plan.count && matches - plan.first >= plan.count)) {
        pthread_mutex_unlock(&lock);
        return verdict;
    }
    hits += 1;
    verdict = (fault_verdict){true, plan.action, plan.code};
    if (plan.action == FAULT_PAUSE) {
        is_paused = true;
        pthread_cond_broadcast(&change);
        while (!is_resumed) pthread_cond_wait(&change, &lock);
    }
    void (*function)(void *) = plan.action == FAULT_CALL ? call : NULL;
    void *argument = call_argument;
    pthread_mutex_unlock(&lock);
    if (function) function(argument);
    if (verdict.action == FAULT_KILL_BEFORE) kill(getpid(), SIGKILL);
    return verdict;
}

int32_t fault_end(fault_verdict verdict, int32_t result) {
    if (verdict.is_concerned && verdict.action == FAULT_KILL_AFTER) kill(getpid(), SIGKILL);
    return result;
}

bool fault_is_left_out(fault_verdict verdict) {
    return verdict.is_concerned
        && (verdict.action == FAULT_FAIL || verdict.action == FAULT_FAIL_HALFWAY || verdict.action == FAULT_LIE);
}

int32_t fault_result(fault_verdict verdict) { return verdict.action == FAULT_LIE ? SQLITE_OK : verdict.code; }
