/* A vault, read and written by plain C: the limit that the library is measured against. Written from docs/vault-format.md. */
#pragma once

#include <sodium.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

enum { KIND_VAULT_KEY = 1, KIND_KEYRING = 2, KIND_USER = 3, KIND_SESSION = 4, KIND_REFRESH = 5, KIND_AUDIT = 10 };

typedef struct { uint8_t id[16]; uint8_t bytes[32]; } Key;

typedef struct {
    sqlite3 *db;
    sqlite3_stmt *due, *next_due, *find, *find_whole, *begin, *commit, *set_login, *set_user, *last_mac, *add_audit;
    uint8_t vault_id[16];
    Key root, index, audit;
} Vault;

/* Associated data under construction. */
typedef struct { uint8_t bytes[768]; size_t count; } Facts;

/* A place in a record. */
typedef struct { const uint8_t *at, *end; } Record;
typedef struct { uint8_t tag; const uint8_t *bytes; size_t count; } Field;

void fail(const char *what);

void facts_begin(Facts *f, const uint8_t vault_id[16], const char *table);
void facts_bytes(Facts *f, const void *bytes, size_t count);
void facts_text(Facts *f, const void *text, size_t count);
void facts_integer(Facts *f, int64_t value);
void facts_absent(Facts *f);

int record_next(Record *r, Field *field); /* 1: a field, 0: the end */
size_t record_put(uint8_t *to, uint8_t tag, const void *bytes, size_t count);

/* Both return the plaintext's or the cell's length and end the program where the cell is not good. */
size_t cell_open(const uint8_t *cell, size_t count, uint8_t kind, const Key *key, const Facts *facts, uint8_t *to);
size_t cell_seal(uint8_t *cell, uint8_t kind, const Key *key, const Facts *facts, const uint8_t *text, size_t count);

void vault_open(Vault *v, const char *path, const char *key_file);
void vault_close(Vault *v);

/* Opens the user's cell and his login's session cell; copies the access token to `token` and returns its length. */
size_t vault_read(Vault *v, const char *user_id, uint8_t *token);
/* Stores a new access token of a login that lives, which its refresh token tells: session cell, user cell with its manifest,
   audit row with the login's look. Between `vault_begin` and `vault_commit`, which is durable. */
void vault_update(Vault *v, const char *user_id, const char *token);
void vault_begin(Vault *v);
void vault_commit(Vault *v);
/* Reads the logins that are due in the vault that `storage-probe make` has made, and when the next one is. Ends the program if
   they are not as many as expected, and returns their number. */
size_t vault_tick(Vault *v, size_t expected);
