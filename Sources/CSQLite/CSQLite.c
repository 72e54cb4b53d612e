#include "CSQLite.h"
#include <string.h>

int vault_db_config_flag(sqlite3 *connection, int option, int value, int *result) {
    return sqlite3_db_config(connection, option, value, result);
}

int vault_file_control_int(sqlite3 *connection, int operation, int *value) {
    return sqlite3_file_control(connection, "main", operation, value);
}

int vault_wal_has_no_reader(sqlite3 *connection) {
    sqlite3_file *file = 0;
    int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK) return code;
    if (!file || !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmLock) return SQLITE_ERROR;
    code = file->pMethods->xShmLock(file, 4, 4, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    if (code == SQLITE_OK) file->pMethods->xShmLock(file, 4, 4, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    return code;
}

int vault_read_file(sqlite3 *connection, unsigned char *bytes, int count) {
    sqlite3_file *file = 0;
    int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK) return code;
    if (!file || !file->pMethods) return SQLITE_ERROR;
    return file->pMethods->xRead(file, bytes, count, 0);
}

int vault_wal_index(sqlite3 *connection, const void **index) {
    sqlite3_file *file = 0;
    void volatile *region = 0;
    *index = 0;
    int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK) return code;
    if (!file || !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return SQLITE_ERROR;
    code = file->pMethods->xShmMap(file, 0, 32768, 0, &region);
    if (code == SQLITE_OK) *index = (const void *)region;
    return code;
}

int vault_wal_frames(sqlite3 *connection, unsigned *frames, unsigned *pageSize) {
    const void *index = 0;
    *frames = 0;
    *pageSize = 0;
    int code = vault_wal_index(connection, &index);
    if (code != SQLITE_OK || !index) return code;
    unsigned short size = ((const unsigned short volatile *)index)[7];
    /* 1 stands for 65 536, which does not fit. */
    *pageSize = size == 1 ? 65536 : size;
    *frames = ((const unsigned volatile *)index)[4];
    return SQLITE_OK;
}

static void load(const unsigned long long *words, vault_wal_header *header) {
    for (int i = 0; i < 6; i++) header->words[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

int vault_wal_header_read(const void *index, vault_wal_header *header) {
    vault_wal_header second;
    load(index, header);
    load((const unsigned long long *)index + 6, &second);
    /* The fifth byte of the second word says whether the header has been made. */
    int is_made = ((const unsigned char *)header)[12] != 0;
    return is_made && memcmp(header, &second, sizeof second) == 0;
}

int vault_wal_header_is(const void *index, const vault_wal_header *known) {
    const unsigned long long *words = index;
    unsigned long long difference = 0;
    for (int i = 0; i < 6; i++) difference |= __atomic_load_n(&words[i], __ATOMIC_RELAXED) ^ known->words[i];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    for (int i = 0; i < 6; i++) difference |= __atomic_load_n(&words[6 + i], __ATOMIC_RELAXED) ^ known->words[i];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return difference == 0;
}

int vault_is_alone(sqlite3 *connection) {
    sqlite3_file *file = 0;
    int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK) return code;
    if (!file || !file->pMethods) return SQLITE_ERROR;
    code = file->pMethods->xLock(file, SQLITE_LOCK_EXCLUSIVE);
    int given = file->pMethods->xUnlock(file, SQLITE_LOCK_SHARED);
    return code == SQLITE_OK ? given : code;
}

int vault_wal_write_again(sqlite3 *connection) {
    enum { piece = 65536 };
    sqlite3_file *wal = 0;
    sqlite3_int64 size = 0;
    int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
    if (code != SQLITE_OK) return code;
    if (!wal || !wal->pMethods) return SQLITE_ERROR;
    code = wal->pMethods->xFileSize(wal, &size);
    if (code != SQLITE_OK) return code;
    void *bytes = sqlite3_malloc(piece);
    if (!bytes) return SQLITE_NOMEM;
    for (sqlite3_int64 offset = 0; code == SQLITE_OK && offset < size; offset += piece) {
        int count = size - offset < piece ? (int)(size - offset) : piece;
        code = wal->pMethods->xRead(wal, bytes, count, offset);
        if (code == SQLITE_OK) code = wal->pMethods->xWrite(wal, bytes, count, offset);
    }
    sqlite3_free(bytes);
    return code == SQLITE_OK && size > 0 ? wal->pMethods->xSync(wal, SQLITE_SYNC_NORMAL) : code;
}

int vault_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

int vault_bind_text_copy(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

int vault_bind_empty_blob(sqlite3_stmt *statement, int index) {
    return sqlite3_bind_zeroblob(statement, index, 0);
}
