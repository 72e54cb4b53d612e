/* The C side of `Benchmarks/peers server`: the statements of Sources/server-bench/main.swift over libpq, in as few round trips.
 * Nothing is sealed or opened. Prints `nanoseconds-per-operation operations p50 p99`.
 *
 *     server round  CONNECTION COUNT        an empty question: the round trip
 *     server read   CONNECTION COUNT        the row of a user with his login, by the blind index
 *     server change CONNECTION COUNT        what one change of a login sends
 *
 * CONNECTION is a string of libpq; the tables are those of a vault in its search_path. `change` works on copies of them.
 */
#include <libpq-fe.h>

#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static PGconn *connection;

static void fail(const char *what) {
    fprintf(stderr, "server: %s: %s\n", what, PQerrorMessage(connection));
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void command(const char *sql) {
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(sql);
    PQclear(result);
}

static void prepare(const char *name, const char *sql) {
    PGresult *result = PQprepare(connection, name, sql, 0, NULL);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail(sql);
    PQclear(result);
}

typedef struct {
    int count;
    const char *values[12];
    int lengths[12];
    int formats[12];
} Parameters;

static int64_t numbers[12];

static void add(Parameters *p, const void *value, int length) {
    p->values[p->count] = value;
    p->lengths[p->count] = length;
    p->formats[p->count++] = 1;
}

static void add_number(Parameters *p, int64_t value) {
    numbers[p->count] = (int64_t)htobe64((uint64_t)value);
    add(p, &numbers[p->count], 8);
}

static void send_one(const char *name, const Parameters *p) {
    if (PQsendQueryPrepared(connection, name, p->count, p->values, p->lengths, p->formats, 1) != 1) fail(name);
}

/* Waits for everything that was sent; gives the last rows. */
static PGresult *finish(void) {
    PGresult *last = NULL;
    if (PQpipelineSync(connection) != 1) fail("sync");
    for (;;) {
        PGresult *result = PQgetResult(connection);
        if (result == NULL) continue;
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_PIPELINE_SYNC) {
            PQclear(result);
            return last;
        }
        if (status == PGRES_TUPLES_OK) {
            PQclear(last);
            last = result;
        } else if (status == PGRES_COMMAND_OK) {
            PQclear(result);
        } else {
            fail("a command");
        }
    }
}

#define USER_COLUMNS "u.\"id\", u.\"handle\", u.\"blindIndex\", u.\"revision\", u.\"auditSequence\", u.\"rootKey\", u.\"cell\""
#define LOGIN_COLUMNS                                                                                                      \
    "l.\"id\", l.\"handle\", l.\"provider\", l.\"chain\", l.\"generation\", l.\"revision\", l.\"incarnation\", "            \
    "l.\"dueAt\", l.\"expiresAt\", l.\"refreshTag\", l.\"keyTag\", l.\"cell\""

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(double elapsed, double *times, int count) {
    qsort(times, (size_t)count, sizeof *times, compare);
    printf("%f %d %f %f\n", elapsed / count, count, times[count / 2], times[count * 99 / 100]);
}

/* The tables that a change touches, as they are, without the vault's own rows being changed. */
static void copy_tables(void) {
    command("SET client_min_messages = error");
    command("CREATE SCHEMA IF NOT EXISTS plain");
    static const char *tables[] = {"engineState", "user", "login", "loginSecret", "refreshIntent", "audit"};
    char sql[512];
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const char *t = tables[i];
        snprintf(sql, sizeof sql, "CREATE TABLE IF NOT EXISTS plain.\"%s\" (LIKE \"%s\" INCLUDING ALL)", t, t);
        command(sql);
        snprintf(sql, sizeof sql, "INSERT INTO plain.\"%s\" SELECT * FROM \"%s\" ON CONFLICT DO NOTHING", t, t);
        command(sql);
    }
    command("SET search_path = plain");
}

static double change(const char *handle, const char *cell, int cell_length, int64_t sequence, const char *user_cell,
                     int user_length) {
    double start = now();
    Parameters none = {0};
    send_one("begin", &none);
    send_one("turn", &none);
    PQclear(finish());
    Parameters by_handle = {0};
    add(&by_handle, handle, 16);
    send_one("login", &by_handle);
    PGresult *row = finish();
    if (row == NULL || PQntuples(row) != 1) fail("the login");
    Parameters user = {0};
    add(&user, PQgetvalue(row, 0, 0), 8);
    add_number(&user, sequence);
    add(&user, user_cell, user_length);
    Parameters login = {0};
    add(&login, PQgetvalue(row, 0, 7), 8);
    add(&login, cell, cell_length);
    send_one("updateLogin", &login);
    send_one("updateUser", &user);
    Parameters audit = {0};
    add_number(&audit, sequence);
    add(&audit, PQgetvalue(row, 0, 1), 16);
    add(&audit, cell, 200);
    add(&audit, cell, 32);
    send_one("audit", &audit);
    send_one("commit", &none);
    PQclear(finish());
    PQclear(row);
    return now() - start;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "server: round|read|change CONNECTION COUNT\n");
        return 64;
    }
    const char *verb = argv[1];
    int count = atoi(argv[3]);
    double *times = calloc((size_t)(count > 0 ? count : 1), sizeof *times);
    connection = PQconnectdb(argv[2]);
    if (count <= 0 || times == NULL || PQstatus(connection) != CONNECTION_OK) fail("no connection");
    PGresult *keys = PQexecParams(
        connection, "SELECT \"blindIndex\", (SELECT l.\"handle\" FROM \"login\" l WHERE l.\"user\" = u.\"id\" LIMIT 1) FROM \"user\" u LIMIT 4096",
        0, NULL, NULL, NULL, NULL, 1);
    int users = PQntuples(keys);
    if (users == 0) fail("the users");
    int64_t sequence = 0;
    if (strcmp(verb, "change") == 0) {
        copy_tables();
        PGresult *head = PQexec(connection, "SELECT max(\"sequence\") FROM \"audit\"");
        sequence = atoll(PQgetvalue(head, 0, 0));
        PQclear(head);
        prepare("begin", "BEGIN ISOLATION LEVEL READ COMMITTED");
        prepare("turn", "UPDATE \"engineState\" SET \"changeCount\" = \"changeCount\" + 1, "
                        "\"isSynchronous\" = current_setting('synchronous_standby_names') <> '' "
                        "WHERE \"id\" = 1 RETURNING \"changeCount\", \"system\", \"timeline\"");
        prepare("login", "SELECT " USER_COLUMNS ", " LOGIN_COLUMNS ", s.\"refreshCell\", s.\"keyCell\", i.* FROM \"login\" l "
                         "JOIN \"user\" u ON u.\"id\" = l.\"user\" LEFT JOIN \"loginSecret\" s ON s.\"login\" = l.\"id\" "
                         "LEFT JOIN \"refreshIntent\" i ON i.\"login\" = l.\"id\" WHERE l.\"handle\" = $1");
        prepare("updateLogin", "UPDATE \"login\" SET \"chain\" = \"chain\", \"generation\" = \"generation\" + 1, "
                               "\"revision\" = \"revision\" + 1, \"incarnation\" = \"incarnation\", \"dueAt\" = \"dueAt\" + 1, "
                               "\"expiresAt\" = \"expiresAt\" + 1, \"refreshTag\" = \"refreshTag\", \"keyTag\" = \"keyTag\", "
                               "\"cell\" = $2 WHERE \"id\" = $1");
        prepare("updateUser", "UPDATE \"user\" SET \"revision\" = \"revision\" + 1, \"auditSequence\" = $2, \"cell\" = $3 "
                              "WHERE \"id\" = $1");
        prepare("audit", "INSERT INTO \"audit\" (\"sequence\", \"time\", \"kind\", \"user\", \"login\", \"provider\", "
                         "\"revision\", \"detailCell\", \"mac\") VALUES ($1, $1, 28, $2, $2, NULL, $1, $3, $4) RETURNING \"sequence\"");
        prepare("commit", "COMMIT");
    } else if (strcmp(verb, "read") == 0) {
        prepare("read", "SELECT " USER_COLUMNS ", " LOGIN_COLUMNS " FROM \"user\" u LEFT JOIN \"login\" l ON l.\"user\" = u.\"id\" "
                        "WHERE u.\"blindIndex\" = $1 ORDER BY l.\"id\" NULLS FIRST");
    } else if (strcmp(verb, "round") == 0) {
        prepare("read", "SELECT 1");
    } else {
        return 64;
    }
    if (PQenterPipelineMode(connection) != 1) fail("pipeline mode");
    static char cell[1400];
    memset(cell, 'x', sizeof cell);
    double start = now();
    for (int i = 0; i < count; i++) {
        int row = (int)((int64_t)i * 7919 % users);
        if (strcmp(verb, "change") == 0) {
            times[i] = change(PQgetvalue(keys, row, 1), cell, sizeof cell, ++sequence, cell, 200);
            continue;
        }
        double began = now();
        Parameters parameters = {0};
        if (strcmp(verb, "read") == 0) add(&parameters, PQgetvalue(keys, row, 0), 16);
        send_one("read", &parameters);
        PQclear(finish());
        times[i] = now() - began;
    }
    report(now() - start, times, count);
    PQclear(keys);
    PQfinish(connection);
    free(times);
    return 0;
}
