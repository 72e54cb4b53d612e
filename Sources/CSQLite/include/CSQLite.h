#pragma once
#include <sqlite3.h>

/* What SQLite's interface has no function for, or none that Swift can import. */

/* sqlite3_db_config is variadic, which Swift cannot import. */
int vault_db_config_flag(sqlite3 *connection, int option, int value, int *result);

/* sqlite3_file_control with an int in and out; fails if the VFS does not know the operation. */
int vault_file_control_int(sqlite3 *connection, int operation, int *value);

/*
 * SQLITE_OK if no transaction reads from the WAL, so that the next commit begins it anew if all of it is in the database
 * file; SQLITE_BUSY if one does. Of the five locks for readers in the WAL index the first is of those that read the
 * database file alone, the four others are of those that need the WAL (https://sqlite.org/walformat.html#wal_locks).
 * SQLite itself asks in this way before it restarts the WAL. Not to be called in a transaction of this connection.
 */
int vault_wal_has_no_reader(sqlite3 *connection);

/* Reads the beginning of the database file itself, whatever the WAL holds of it. */
int vault_read_file(sqlite3 *connection, unsigned char *bytes, int count);

/*
 * How many frames of the WAL the WAL index knows, and the size of a page, as the first copy of the index's header tells
 * (https://sqlite.org/walformat.html#the_wal_index_header). To be called by a connection that has read.
 */
int vault_wal_frames(sqlite3 *connection, unsigned *frames, unsigned *pageSize);

/*
 * Where this process has mapped the WAL index, whose header stands at its beginning twice; null if it has not. It stays there
 * until the connection is closed. To be called by a connection that has read.
 */
int vault_wal_index(sqlite3 *connection, const void **index);

/* One copy of the header: 48 bytes, of which each commit and each restart of the WAL changes some. */
typedef struct {
    unsigned long long words[6];
} vault_wal_header;

/* Copies the header; 0 if its two copies differ, because somebody is writing it or has died of it, or if there is none. */
int vault_wal_header_read(const void *index, vault_wal_header *header);

/*
 * Whether both copies are as they were. A commit is acknowledged only after both have changed, so a reader that finds either
 * unchanged sees a moment before that.
 */
int vault_wal_header_is(const void *index, const vault_wal_header *known);

/*
 * SQLITE_OK if no other connection has the database open; SQLITE_BUSY if one does. In WAL mode each connection that has
 * read holds a shared lock on the database file until it is closed, so that an exclusive one is had by the only connection
 * alone: SQLite asks in this way whether a connection that is closed is the last. The lock is given back at once.
 */
int vault_is_alone(sqlite3 *connection);

/*
 * Writes the WAL anew, with the bytes that are in it, and syncs it. After a sync that failed the kernel may take for written
 * what the disk never got, and no later sync of the same pages helps. To be called with a connection that holds the write
 * lock: then nobody appends.
 */
int vault_wal_write_again(sqlite3 *connection);

/* SQLITE_TRANSIENT is a cast that Swift cannot import: SQLite makes its own copy. */
int vault_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes, int count);

int vault_bind_text_copy(sqlite3_stmt *statement, int index, const char *text, int count);

/* A zero-length blob is not NULL. */
int vault_bind_empty_blob(sqlite3_stmt *statement, int index);
