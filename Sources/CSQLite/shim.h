#pragma once
#include <sqlite3.h>

/* sqlite3_db_config is variadic, which Swift cannot import. */
static inline int vault_db_config_flag(sqlite3 *connection, int option, int value, int *result) {
    return sqlite3_db_config(connection, option, value, result);
}
