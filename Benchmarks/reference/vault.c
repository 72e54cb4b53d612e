#include "vault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

#define USER_COLUMNS "user.id, user.handle, user.blindIndex, user.revision, user.auditSequence, user.rootKey, user.cell"
#define LOGIN_COLUMNS \
    "login.id, login.handle, login.provider, login.chain, login.generation, login.revision, login.incarnation, " \
    "login.dueAt, login.expiresAt, login.refreshTag, login.keyTag, login.cell"

static void check(int code, Vault *v) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) fail(sqlite3_errmsg(v->db));
}

sqlite3_stmt *prepare(Vault *v, const char *sql) {
    sqlite3_stmt *statement = NULL;
    check(sqlite3_prepare_v3(v->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), v);
    return statement;
}

static void base32(const char *text, uint8_t *to, size_t count) {
    uint32_t bits = 0;
    int held = 0;
    for (size_t made = 0; made < count; text++) {
        int value = *text >= 'a' && *text <= 'z' ? *text - 'a' : *text >= '2' && *text <= '7' ? *text - '2' + 26 : -1;
        if (value < 0) fail("the key file is not in base32");
        bits = bits << 5 | (uint32_t)value;
        held += 5;
        if (held >= 8) {
            held -= 8;
            to[made++] = (uint8_t)(bits >> held);
        }
    }
}

static void read_key_file(const char *path, Key *slot) {
    char line[112] = {0};
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL) fail("the key file cannot be read");
    fclose(file);
    if (strncmp(line, "tokenvault-key-1 ", 17) != 0) fail("this is not a key file");
    base32(line + 17, slot->id, 16);
    base32(line + 44, slot->bytes, 32);
    sodium_memzero(line, sizeof line);
}

static void take(const Field *field, void *to, size_t count) {
    if (field->count != count) fail("a field has the wrong length");
    memcpy(to, field->bytes, count);
}

static void read_key(const Field *field, Key *key) {
    Record record = {field->bytes, field->bytes + field->count};
    Field part;
    while (record_next(&record, &part)) {
        if (part.tag == 1) take(&part, key->id, 16);
        if (part.tag == 2) take(&part, key->bytes, 32);
    }
}

void facts_column(Facts *facts, sqlite3_stmt *row, int column) {
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL: facts_absent(facts); break;
    case SQLITE_INTEGER: facts_integer(facts, sqlite3_column_int64(row, column)); break;
    case SQLITE_TEXT:
        facts_text(facts, sqlite3_column_text(row, column), (size_t)sqlite3_column_bytes(row, column));
        break;
    default: facts_bytes(facts, sqlite3_column_blob(row, column), (size_t)sqlite3_column_bytes(row, column));
    }
}

size_t open_column(
    sqlite3_stmt *row, int column, uint8_t kind, const Key *key, const Facts *facts, uint8_t *to) {
    const uint8_t *cell = sqlite3_column_blob(row, column);
    return cell_open(cell, (size_t)sqlite3_column_bytes(row, column), kind, key, facts, to);
}

static void unlock(Vault *v, const char *key_file) {
    Key slot, vault_key = {0};
    Facts facts;
    uint8_t text[1024];
    Field field;
    read_key_file(key_file, &slot);
    sqlite3_stmt *row = prepare(v, "SELECT vaultID, keyringCell, incarnation, createdAt FROM vault");
    if (sqlite3_step(row) != SQLITE_ROW || sqlite3_column_bytes(row, 0) != 16) fail("the vault's own row is missing");
    memcpy(v->vault_id, sqlite3_column_blob(row, 0), 16);

    sqlite3_stmt *slots = prepare(
        v, "SELECT handle, kind, keyID, salt, operations, memoryKiB, label, createdAt, cell FROM keySlot WHERE kind = 1");
    if (sqlite3_step(slots) != SQLITE_ROW) fail("no key file slot");
    facts_begin(&facts, v->vault_id, "keySlot");
    for (int column = 0; column < 8; column++) facts_column(&facts, slots, column);
    size_t count = open_column(slots, 8, KIND_VAULT_KEY, &slot, &facts, text);
    Record record = {text, text + count};
    while (record_next(&record, &field)) {
        if (field.tag == 1) take(&field, vault_key.id, 16);
        if (field.tag == 2) take(&field, vault_key.bytes, 32);
    }
    sqlite3_finalize(slots);

    facts_begin(&facts, v->vault_id, "vault");
    facts_column(&facts, row, 2);
    facts_column(&facts, row, 3);
    count = open_column(row, 1, KIND_KEYRING, &vault_key, &facts, text);
    record = (Record){text, text + count};
    while (record_next(&record, &field)) {
        if (field.tag == 1) read_key(&field, &v->root);
        if (field.tag == 3) read_key(&field, &v->index);
        if (field.tag == 4) read_key(&field, &v->audit);
    }
    sqlite3_finalize(row);
    sodium_memzero(text, sizeof text);
}

void vault_open(Vault *v, const char *path, const char *key_file) {
    memset(v, 0, sizeof *v);
    check(sqlite3_open_v2(path, &v->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL), v);
    sqlite3_busy_timeout(v->db, 10000);
    sqlite3_db_config(v->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    check(sqlite3_exec(
        v->db,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;"
        "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON;"
        "PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = 250", NULL, NULL, NULL), v);
    unlock(v, key_file);
    v->find = prepare(
        v, "SELECT " USER_COLUMNS ", " LOGIN_COLUMNS " FROM user LEFT JOIN login ON login.user = user.id"
           " WHERE user.blindIndex = ?1 ORDER BY login.id");
    v->find_whole = prepare(
        v, "SELECT " USER_COLUMNS ", " LOGIN_COLUMNS ", loginSecret.refreshCell, loginSecret.keyCell,"
           " refreshIntent.fence, refreshIntent.generation, refreshIntent.owner"
           " FROM user LEFT JOIN login ON login.user = user.id LEFT JOIN loginSecret ON loginSecret.login = login.id"
           " LEFT JOIN refreshIntent ON refreshIntent.login = login.id"
           " WHERE user.blindIndex = ?1 ORDER BY login.id");
}

void vault_close(Vault *v) {
    sqlite3_stmt *all[] = {v->due, v->next_due, v->find, v->find_whole, v->begin, v->commit, v->set_login, v->set_user, v->last_mac, v->add_audit};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sqlite3_finalize(all[i]);
    sqlite3_close(v->db);
    sodium_memzero(v, sizeof *v);
}

static void login_facts(Vault *v, Facts *facts, sqlite3_stmt *row) {
    facts_begin(facts, v->vault_id, "login");
    facts_column(facts, row, 8);
    facts_column(facts, row, 1);
    for (int column = 9; column <= 17; column++) facts_column(facts, row, column);
}

sqlite3_stmt *find(Vault *v, sqlite3_stmt *row, const char *user_id, Open *open) {
    static const uint8_t personal[16] = "TokenVault user ";
    uint8_t index[16];
    Facts facts;
    Field field;
    crypto_generichash_blake2b_salt_personal(
        index, 16, (const uint8_t *)user_id, strlen(user_id), v->index.bytes, 32, NULL, personal);
    sqlite3_bind_blob(row, 1, index, 16, SQLITE_TRANSIENT);
    if (sqlite3_step(row) != SQLITE_ROW) fail("no such user");

    facts_begin(&facts, v->vault_id, "user");
    for (int column = 1; column <= 5; column++) facts_column(&facts, row, column);
    open->user_count = open_column(row, 6, KIND_USER, &v->root, &facts, open->user);
    memcpy(open->data_key.id, sqlite3_column_blob(row, 1), 16);
    Record record = {open->user, open->user + open->user_count};
    while (record_next(&record, &field)) {
        if (field.tag == 1) take(&field, open->data_key.bytes, 32);
        if (field.tag == 5) {
            open->manifest = field.bytes;
            open->manifest_count = field.count;
        }
    }

    login_facts(v, &facts, row);
    open->session_count = open_column(row, 18, KIND_SESSION, &open->data_key, &facts, open->session);
    const uint8_t *cell = sqlite3_column_blob(row, 18);
    int64_t revision = sqlite3_column_int64(row, 12);
    if (open->manifest_count != 40 || memcmp(open->manifest, sqlite3_column_blob(row, 8), 16) != 0
        || memcmp(open->manifest + 16, &revision, 8) != 0
        || memcmp(open->manifest + 24, cell + sqlite3_column_bytes(row, 18) - 16, 16) != 0)
        fail("the manifest does not know this login");
    record = (Record){open->session, open->session + open->session_count};
    while (record_next(&record, &field)) {
        if (field.tag == 2) {
            open->token = field.bytes;
            open->token_count = field.count;
        }
        if (field.tag == 6) take(&field, &open->obtained_at, 8);
        if (field.tag == 7) take(&field, &open->expires_at, 8);
    }
    return row;
}

void finish(sqlite3_stmt *row, Open *open) {
    sodium_memzero(open->data_key.bytes, 32);
    sodium_memzero(open->user, open->user_count);
    sodium_memzero(open->session, open->session_count);
    sqlite3_reset(row);
}

int64_t milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

size_t vault_read(Vault *v, const char *user_id, uint8_t *token) {
    Open open;
    open.token = NULL;
    sqlite3_stmt *row = find(v, v->find, user_id, &open);
    if (open.token == NULL || open.expires_at - milliseconds() < 300000) fail("the token is not good");
    memcpy(token, open.token, open.token_count);
    size_t count = open.token_count;
    if (sqlite3_step(row) != SQLITE_DONE) fail("more logins than one");
    finish(row, &open);
    return count;
}

typedef struct { uint8_t login[16], provider[16]; int64_t due_at; int has_refresh_cell; } Due;

size_t vault_tick(Vault *v, size_t expected) {
    static Due found[1000];
    const int64_t before = 4102444800000 + ((int64_t)expected - 1) * 1000;
    size_t count = 0;
    if (v->due == NULL) {
        v->due = prepare(
            v, "SELECT id, handle, provider, dueAt, refreshTag IS NOT NULL FROM login INDEXED BY loginByDueAt"
               " WHERE dueAt IS NOT NULL AND dueAt <= ?1 AND (dueAt, id) > (?2, ?3) ORDER BY dueAt, id LIMIT ?4");
        v->next_due = prepare(
            v, "SELECT dueAt FROM login INDEXED BY loginByDueAt WHERE dueAt > ?1 ORDER BY dueAt LIMIT 1");
    }
    sqlite3_bind_int64(v->due, 1, before);
    sqlite3_bind_int64(v->due, 2, INT64_MIN);
    sqlite3_bind_int64(v->due, 3, INT64_MIN);
    sqlite3_bind_int64(v->due, 4, 1000);
    while (sqlite3_step(v->due) == SQLITE_ROW && count < 1000) {
        Due *due = &found[count++];
        memcpy(due->login, sqlite3_column_blob(v->due, 1), 16);
        memcpy(due->provider, sqlite3_column_blob(v->due, 2), 16);
        due->due_at = sqlite3_column_int64(v->due, 3);
        due->has_refresh_cell = sqlite3_column_int(v->due, 4);
    }
    sqlite3_reset(v->due);
    sqlite3_bind_int64(v->next_due, 1, before);
    if (sqlite3_step(v->next_due) != SQLITE_ROW) fail("nothing comes next");
    sqlite3_reset(v->next_due);
    if (count != expected) fail("another number of logins is due");
    return count;
}
