/* What the two halves of the vault share. */
#pragma once

#include "vault.h"

/* What is known of a user and his login while both are open. */
typedef struct {
    Key data_key;
    uint8_t user[1024], session[8192];
    size_t user_count, session_count;
    const uint8_t *manifest;
    size_t manifest_count;
    const uint8_t *token;
    size_t token_count;
    int64_t obtained_at, expires_at;
} Open;

sqlite3_stmt *prepare(Vault *v, const char *sql);
void facts_column(Facts *facts, sqlite3_stmt *row, int column);
/* By `find`, or by `find_whole` with the secret cells as columns 19 and 20: opens the user cell and the session cell. */
sqlite3_stmt *find(Vault *v, sqlite3_stmt *row, const char *user_id, Open *open);
size_t open_column(sqlite3_stmt *row, int column, uint8_t kind, const Key *key, const Facts *facts, uint8_t *to);
void finish(sqlite3_stmt *row, Open *open);                    /* wipes them */
int64_t milliseconds(void);
