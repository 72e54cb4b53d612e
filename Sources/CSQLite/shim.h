#pragma once
#include <sqlite3.h>
#include <sys/vfs.h>

/* sqlite3_db_config is variadic, which Swift cannot import. */
static inline int vault_db_config_flag(sqlite3 *connection, int option, int value, int *result) {
    return sqlite3_db_config(connection, option, value, result);
}

/* sqlite3_file_control with an int in and out; fails if the VFS does not know the operation. */
static inline int vault_file_control_int(sqlite3 *connection, int operation, int *value) {
    return sqlite3_file_control(connection, "main", operation, value);
}

/* SQLITE_TRANSIENT is a cast that Swift cannot import: SQLite makes its own copy. */
static inline int vault_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int vault_bind_text_copy(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

/* A zero-length blob is not NULL. */
static inline int vault_bind_empty_blob(sqlite3_stmt *statement, int index) {
    return sqlite3_bind_zeroblob(statement, index, 0);
}

/* The magic number of the file system that a directory lies on; 0 if it cannot be told. */
static inline unsigned long vault_file_system_magic(const char *path) {
    struct statfs info;
    return statfs(path, &info) == 0 ? (unsigned long)info.f_type : 0;
}
