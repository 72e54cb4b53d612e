// SQLCipher with a raw key: "just encrypt the file". The same arguments and the same output as vault-bench.
//
//     sqlcipher fill   FILE LOGINS
//     sqlcipher read   FILE LOGINS COUNT SEED [CACHE-KIB]
//     sqlcipher renew  FILE LOGINS COUNT SEED
//     sqlcipher open   FILE LOGINS COUNT SEED
//     sqlcipher memory FILE LOGINS COUNT SEED
//     sqlcipher rekey  FILE LOGINS
#define SQLITE_HAS_CODEC
#include <sqlcipher/sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define KEY "PRAGMA key = \"x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'\""
#define OTHER_KEY "PRAGMA rekey = \"x'f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff000102030405060708090a0b0c0d0e0f'\""

static sqlite3 *db;
static const char *path;

static void require(int isGood) {
    if (isGood) return;
    fprintf(stderr, "sqlcipher: %s\n", db ? sqlite3_errmsg(db) : "no database");
    exit(1);
}

static void run(const char *sql) { require(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK); }

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    require(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK);
    return statement;
}

static void openFile(long cacheKiB) {
    require(sqlite3_open(path, &db) == SQLITE_OK);
    run(KEY);
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    if (cacheKiB == 0) return;
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA cache_size = -%ld", cacheKiB);
    run(sql);
}

static void text(char *into, size_t length, const char *kind, uint64_t number, uint64_t generation) {
    int start = snprintf(into, length, "%s-%llu-%llu-", kind, (unsigned long long)number, (unsigned long long)generation);
    memset(into + start, 'x', length - (size_t)start);
}

static void bindLogin(sqlite3_stmt *statement, uint64_t number, uint64_t token, uint64_t generation) {
    char user[32], access[1000], refresh[100];
    int length = snprintf(user, sizeof user, "user-%08llu", (unsigned long long)number);
    text(access, sizeof access, "token", token, generation);
    text(refresh, sizeof refresh, "refresh", token, generation);
    sqlite3_bind_text(statement, 1, user, length, SQLITE_TRANSIENT);
    sqlite3_bind_blob(statement, 2, access, sizeof access, SQLITE_TRANSIENT);
    sqlite3_bind_blob(statement, 3, refresh, sizeof refresh, SQLITE_TRANSIENT);
    sqlite3_bind_int64(statement, 4, 4000000000);
}

static void step(sqlite3_stmt *statement) {
    require(sqlite3_step(statement) == SQLITE_DONE);
    sqlite3_reset(statement);
}

static void fill(uint64_t logins) {
    openFile(0);
    run("CREATE TABLE token (user TEXT PRIMARY KEY, access BLOB, refresh BLOB, expiresAt INTEGER); BEGIN;");
    sqlite3_stmt *insert = prepare("INSERT INTO token VALUES (?1, ?2, ?3, ?4)");
    for (uint64_t number = 0; number < logins; number++) {
        bindLogin(insert, number, number, 0);
        step(insert);
    }
    run("COMMIT");
    sqlite3_finalize(insert);
}

static uint64_t following(uint64_t *state, uint64_t logins) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state % logins;
}

static size_t readOne(sqlite3_stmt *select, uint64_t number) {
    char user[32];
    int length = snprintf(user, sizeof user, "user-%08llu", (unsigned long long)number);
    sqlite3_bind_text(select, 1, user, length, SQLITE_TRANSIENT);
    require(sqlite3_step(select) == SQLITE_ROW);
    char copy[1024];
    size_t bytes = (size_t)sqlite3_column_bytes(select, 0);
    require(bytes == 1000);
    memcpy(copy, sqlite3_column_blob(select, 0), bytes);
    sqlite3_reset(select);
    return bytes + (size_t)(copy[0] == 0);
}

static const char *READ = "SELECT access FROM token WHERE user = ?1";

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char **arguments) {
    if (count < 4) return 64;
    const char *verb = arguments[1];
    path = arguments[2];
    uint64_t logins = strtoull(arguments[3], NULL, 10);
    if (strcmp(verb, "fill") == 0) return fill(logins), sqlite3_close(db);
    if (strcmp(verb, "rekey") == 0) {
        openFile(0);
        double start = now();
        run(OTHER_KEY);
        double each = (now() - start) / (double)logins;
        printf("%f %llu\n", each, (unsigned long long)logins);
        return sqlite3_close(db);
    }
    if (count < 6) return 64;
    uint64_t times = strtoull(arguments[4], NULL, 10), state = strtoull(arguments[5], NULL, 10) | 1;
    size_t bytes = 0;
    double start;
    if (strcmp(verb, "open") == 0) {
        start = now();
        for (uint64_t i = 0; i < times; i++) {
            openFile(0);
            sqlite3_stmt *select = prepare(READ);
            bytes += readOne(select, following(&state, logins));
            sqlite3_finalize(select);
            sqlite3_close(db);
        }
    } else if (strcmp(verb, "renew") == 0) {
        openFile(0);
        sqlite3_stmt *update = prepare("UPDATE token SET access = ?2, refresh = ?3, expiresAt = ?4 WHERE user = ?1");
        start = now();
        for (uint64_t i = 0; i < times; i++) {
            bindLogin(update, following(&state, logins), i, 1);
            step(update);
        }
    } else {
        openFile(count > 6 ? atol(arguments[6]) : 0);
        sqlite3_stmt *select = prepare(READ);
        // With a cache for all pages the first pass decrypts them.
        for (uint64_t number = 0; count > 6 && number < logins; number++) bytes += readOne(select, number);
        start = now();
        for (uint64_t i = 0; i < times; i++) bytes += readOne(select, following(&state, logins));
    }
    double elapsed = now() - start;
    if (strcmp(verb, "memory") == 0) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        return printf("%ld\n", usage.ru_maxrss), 0;
    }
    return printf("%f %llu\n", elapsed / (double)times, (unsigned long long)times), bytes == 1;
}
