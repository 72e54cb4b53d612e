#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fault_plan.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fault_record *records;
static uint64_t used, room;
static bool is_recording;

static void append(fault_record record, const void *bytes) {
    pthread_mutex_lock(&lock);
    if (is_recording) {
        if (used == room) {
            room = room ? 2 * room : 1024;
            records = realloc(records, room * sizeof *records);
            if (!records) abort();
        }
        if (bytes) {
            uint8_t *copy = malloc((size_t)record.length + 1);
            if (!copy) abort();
            memcpy(copy, bytes, (size_t)record.length);
            record.bytes = copy;
        }
        records[used++] = record;
    }
    pthread_mutex_unlock(&lock);
}

void fault_note(uint32_t operation, uint32_t file, int64_t offset, int64_t length, const void *bytes) {
    if (file & (FAULT_DATABASE | FAULT_WAL)) append((fault_record){operation, file, offset, length, NULL, 0}, bytes);
}

void fault_vfs_mark(int64_t value) { append((fault_record){0, 0, 0, 0, NULL, value}, NULL); }

void fault_vfs_record(bool is_on) {
    pthread_mutex_lock(&lock);
    is_recording = is_on;
    pthread_mutex_unlock(&lock);
}

uint64_t fault_vfs_record_count(void) {
    pthread_mutex_lock(&lock);
    uint64_t result = used;
    pthread_mutex_unlock(&lock);
    return result;
}

fault_record fault_vfs_record_at(uint64_t index) {
    fault_record none = {0};
    pthread_mutex_lock(&lock);
    fault_record result = index < used ? records[index] : none;
    pthread_mutex_unlock(&lock);
    return result;
}

void fault_vfs_clear_record(void) {
    pthread_mutex_lock(&lock);
    for (uint64_t index = 0; index < used; index++) free((void *)records[index].bytes);
    used = 0;
    pthread_mutex_unlock(&lock);
}
