#include "vault.h"

#include <string.h>
#include <time.h>

#include "internal.h"

enum { AUDIT_TOKEN_UPDATED = 6, STATE_ESTABLISHED = 2 };

static void run(Vault *v, sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail(sqlite3_errmsg(v->db));
    sqlite3_reset(statement);
}

static void prepare_update(Vault *v) {
    v->begin = prepare(v, "BEGIN IMMEDIATE");
    v->commit = prepare(v, "COMMIT");
    v->set_login = prepare(
        v, "UPDATE login SET generation = ?1, revision = ?2, dueAt = ?3, expiresAt = ?4, cell = ?5 WHERE id = ?6");
    v->set_user = prepare(v, "UPDATE user SET revision = ?1, auditSequence = ?2, cell = ?3 WHERE id = ?4");
    v->last_mac = prepare(v, "SELECT sequence, mac FROM audit ORDER BY sequence DESC LIMIT 1");
    v->add_audit = prepare(
        v, "INSERT INTO audit (sequence, time, kind, user, login, revision, detailCell, mac) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
}

/* The session record as it was, with another token and other times. */
static size_t new_session(const Open *open, const char *token, int64_t now, int64_t expires_at, uint8_t *to) {
    Record record = {open->session, open->session + open->session_count};
    Field field;
    size_t count = 0;
    while (record_next(&record, &field)) {
        const void *bytes = field.bytes;
        size_t length = field.count;
        if (field.tag == 2) bytes = token, length = strlen(token);
        if (field.tag == 6) bytes = &now;
        if (field.tag == 7) bytes = &expires_at;
        count += record_put(to + count, field.tag, bytes, length);
    }
    return count;
}

/* A login that lives has a refresh token. */
static void require_refresh_token(Vault *v, sqlite3_stmt *row, const Open *open) {
    uint8_t text[4096];
    Facts facts;
    const uint8_t *cell = sqlite3_column_blob(row, 19);
    int length = sqlite3_column_bytes(row, 19);
    if (length < 224 || memcmp(cell + length - 16, sqlite3_column_blob(row, 16), 16) != 0)
        fail("the refresh cell is not the one that its login knows");
    facts_begin(&facts, v->vault_id, "loginSecret");
    facts_column(&facts, row, 8);
    facts_column(&facts, row, 1);
    size_t count = open_column(row, 19, KIND_REFRESH, &open->data_key, &facts, text);
    Record record = {text, text + count};
    Field field;
    int is_there = 0;
    while (record_next(&record, &field)) is_there |= field.tag == 1 && field.count > 0;
    sodium_memzero(text, count);
    if (!is_there) fail("the login has no refresh token");
}

/* How the login stands after the change. */
static size_t look(sqlite3_stmt *row, int64_t generation, int64_t expires_at, int64_t granted_at, uint8_t *to) {
    const uint8_t state = STATE_ESTABLISHED;
    uint8_t inner[128];
    size_t count = record_put(inner, 1, &state, 1);
    count += record_put(inner + count, 3, &generation, 8);
    count += record_put(inner + count, 4, &expires_at, 8);
    count += record_put(inner + count, 11, &granted_at, 8);
    count += record_put(inner + count, 12, sqlite3_column_blob(row, 9), 16);
    return record_put(to, 2, inner, count);
}

static int64_t add_audit(Vault *v, sqlite3_stmt *row, const Open *open, int64_t now, int64_t revision) {
    static const uint8_t zeros[32] = {0};
    static uint8_t cell[1024];
    uint8_t text[192];
    uint8_t message[32 + sizeof(Facts)], mac[32];
    int64_t sequence = 1;
    memcpy(message, zeros, 32);
    if (sqlite3_step(v->last_mac) == SQLITE_ROW) {
        sequence = sqlite3_column_int64(v->last_mac, 0) + 1;
        memcpy(message, sqlite3_column_blob(v->last_mac, 1), 32);
    }
    sqlite3_reset(v->last_mac);
    Facts facts;
    facts_begin(&facts, v->vault_id, "audit");
    facts_integer(&facts, sequence);
    facts_integer(&facts, now);
    facts_integer(&facts, AUDIT_TOKEN_UPDATED);
    facts_bytes(&facts, sqlite3_column_blob(row, 1), 16);
    facts_bytes(&facts, sqlite3_column_blob(row, 8), 16);
    facts_absent(&facts);
    facts_integer(&facts, revision);
    size_t count = look(row, sqlite3_column_int64(row, 11) + 1, now + 86400000, open->obtained_at, text);
    size_t length = cell_seal(cell, KIND_AUDIT, &v->audit, &facts, text, count);
    facts_bytes(&facts, cell + length - 16, 16);
    memcpy(message + 32, facts.bytes, facts.count);
    crypto_generichash_blake2b(mac, 32, message, 32 + facts.count, v->audit.bytes, 32);
    sqlite3_stmt *add = v->add_audit;
    sqlite3_bind_int64(add, 1, sequence);
    sqlite3_bind_int64(add, 2, now);
    sqlite3_bind_int64(add, 3, AUDIT_TOKEN_UPDATED);
    sqlite3_bind_blob(add, 4, sqlite3_column_blob(row, 1), 16, SQLITE_TRANSIENT);
    sqlite3_bind_blob(add, 5, sqlite3_column_blob(row, 8), 16, SQLITE_TRANSIENT);
    sqlite3_bind_int64(add, 6, revision);
    sqlite3_bind_blob(add, 7, cell, (int)length, SQLITE_STATIC);
    sqlite3_bind_blob(add, 8, mac, 32, SQLITE_STATIC);
    run(v, add);
    return sequence;
}

static void set_login(
    Vault *v, sqlite3_stmt *row, Open *open, const char *token, int64_t now, uint8_t manifest[40]) {
    static uint8_t text[8192], cell[8192];
    int64_t expires_at = now + 86400000;
    int64_t generation = sqlite3_column_int64(row, 11) + 1, revision = sqlite3_column_int64(row, 12) + 1;
    int64_t rounded = (expires_at + 59999) / 60000 * 60000;
    Facts facts;
    facts_begin(&facts, v->vault_id, "login");
    facts_column(&facts, row, 8);
    facts_column(&facts, row, 1);
    facts_column(&facts, row, 9);
    facts_column(&facts, row, 10);
    facts_integer(&facts, generation);
    facts_integer(&facts, revision);
    facts_column(&facts, row, 13);
    facts_integer(&facts, expires_at);
    facts_integer(&facts, rounded);
    facts_column(&facts, row, 16);
    facts_column(&facts, row, 17);
    size_t count = new_session(open, token, now, expires_at, text);
    size_t length = cell_seal(cell, KIND_SESSION, &open->data_key, &facts, text, count);
    sodium_memzero(text, count);
    memcpy(manifest + 16, &revision, 8);
    memcpy(manifest + 24, cell + length - 16, 16);
    sqlite3_stmt *set = v->set_login;
    sqlite3_bind_int64(set, 1, generation);
    sqlite3_bind_int64(set, 2, revision);
    sqlite3_bind_int64(set, 3, expires_at);
    sqlite3_bind_int64(set, 4, rounded);
    sqlite3_bind_blob(set, 5, cell, (int)length, SQLITE_STATIC);
    sqlite3_bind_int64(set, 6, sqlite3_column_int64(row, 7));
    run(v, set);
}

static void set_user(
    Vault *v, sqlite3_stmt *row, Open *open, int64_t revision, int64_t sequence, const uint8_t manifest[40]) {
    static uint8_t text[1024], cell[2048];
    Facts facts;
    facts_begin(&facts, v->vault_id, "user");
    facts_column(&facts, row, 1);
    facts_column(&facts, row, 2);
    facts_integer(&facts, revision);
    facts_integer(&facts, sequence);
    facts_column(&facts, row, 5);
    memcpy(text, open->user, open->user_count);
    memcpy(text + (open->manifest - open->user), manifest, 40);
    size_t length = cell_seal(cell, KIND_USER, &v->root, &facts, text, open->user_count);
    sodium_memzero(text, open->user_count);
    sqlite3_stmt *set = v->set_user;
    sqlite3_bind_int64(set, 1, revision);
    sqlite3_bind_int64(set, 2, sequence);
    sqlite3_bind_blob(set, 3, cell, (int)length, SQLITE_STATIC);
    sqlite3_bind_int64(set, 4, sqlite3_column_int64(row, 0));
    run(v, set);
}

void vault_update(Vault *v, const char *user_id, const char *token) {
    uint8_t manifest[40];
    Open open;
    open.token = NULL;
    sqlite3_stmt *row = find(v, v->find_whole, user_id, &open);
    require_refresh_token(v, row, &open);
    if (sqlite3_column_type(row, 21) != SQLITE_NULL) fail("somebody renews the login");
    int64_t now = milliseconds(), revision = sqlite3_column_int64(row, 3) + 1;
    memcpy(manifest, open.manifest, 40);
    set_login(v, row, &open, token, now, manifest);
    int64_t sequence = add_audit(v, row, &open, now, revision);
    set_user(v, row, &open, revision, sequence, manifest);
    finish(row, &open);
}

void vault_begin(Vault *v) {
    if (v->begin == NULL) prepare_update(v);
    run(v, v->begin);
}

void vault_commit(Vault *v) { run(v, v->commit); }
