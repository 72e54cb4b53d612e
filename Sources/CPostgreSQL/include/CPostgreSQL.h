#pragma once

/* libpq, loaded when a vault on a server is first used: a program that serves files alone neither needs it nor pays for the
 * twenty libraries that it brings along.
 *
 * Each function of libpq that is used has a namesake here, with LibPQ in front in place of PQ. Those that all others
 * need first give NULL where libpq cannot be loaded. */

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
/* Where Debian keeps it. */
#include <postgresql/libpq-fe.h>
#endif

/* NULL once libpq is loaded, else why it cannot be. Valid for as long as the process lives. */
const char *libpq_load(void);

/* F(what it gives, the name after PQ, its parameters, the arguments) */
#define LIBPQ_BEGINNINGS(F) \
    F(PQconninfoOption *, conninfoParse, (const char *text, char **message), (text, message)) \
    F(PQconninfoOption *, conndefaults, (void), ()) \
    F(PGconn *, connectStartParams, (const char *const *names, const char *const *values, int expand), \
        (names, values, expand))
#define LIBPQ_FUNCTIONS(F) \
    F(int, backendPID, (const PGconn *conn), (conn)) \
    F(void, clear, (PGresult *result), (result)) \
    F(char *, cmdStatus, (PGresult *result), (result)) \
    F(char *, cmdTuples, (PGresult *result), (result)) \
    F(PostgresPollingStatusType, connectPoll, (PGconn *conn), (conn)) \
    F(PQconninfoOption *, conninfo, (PGconn *conn), (conn)) \
    F(void, conninfoFree, (PQconninfoOption *options), (options)) \
    F(int, consumeInput, (PGconn *conn), (conn)) \
    F(int, enterPipelineMode, (PGconn *conn), (conn)) \
    F(char *, errorMessage, (const PGconn *conn), (conn)) \
    F(void, finish, (PGconn *conn), (conn)) \
    F(int, flush, (PGconn *conn), (conn)) \
    F(void, freemem, (void *memory), (memory)) \
    F(PGresult *, getResult, (PGconn *conn), (conn)) \
    F(int, getisnull, (const PGresult *result, int row, int column), (result, row, column)) \
    F(int, getlength, (const PGresult *result, int row, int column), (result, row, column)) \
    F(char *, getvalue, (const PGresult *result, int row, int column), (result, row, column)) \
    F(int, isBusy, (PGconn *conn), (conn)) \
    F(int, nfields, (const PGresult *result), (result)) \
    F(PGnotify *, notifies, (PGconn *conn), (conn)) \
    F(int, ntuples, (const PGresult *result), (result)) \
    F(int, pipelineSync, (PGconn *conn), (conn)) \
    F(char *, resultErrorField, (const PGresult *result, int field), (result, field)) \
    F(ExecStatusType, resultStatus, (const PGresult *result), (result)) \
    F(int, sendPrepare, (PGconn *conn, const char *name, const char *query, int count, const Oid *types), \
        (conn, name, query, count, types)) \
    F(int, sendQueryParams, \
        (PGconn *conn, const char *command, int count, const Oid *types, const char *const *values, \
            const int *lengths, const int *formats, int resultFormat), \
        (conn, command, count, types, values, lengths, formats, resultFormat)) \
    F(int, sendQueryPrepared, \
        (PGconn *conn, const char *name, int count, const char *const *values, const int *lengths, \
            const int *formats, int resultFormat), \
        (conn, name, count, values, lengths, formats, resultFormat)) \
    F(PGVerbosity, setErrorVerbosity, (PGconn *conn, PGVerbosity verbosity), (conn, verbosity)) \
    F(PQnoticeReceiver, setNoticeReceiver, (PGconn *conn, PQnoticeReceiver receiver, void *context), \
        (conn, receiver, context)) \
    F(int, setnonblocking, (PGconn *conn, int isNonblocking), (conn, isNonblocking)) \
    F(int, socket, (const PGconn *conn), (conn)) \
    F(int, sslInUse, (PGconn *conn), (conn)) \
    F(ConnStatusType, status, (const PGconn *conn), (conn))

#define LIBPQ_DECLARE(type, name, parameters, arguments) type LibPQ##name parameters;
LIBPQ_BEGINNINGS(LIBPQ_DECLARE)
LIBPQ_FUNCTIONS(LIBPQ_DECLARE)
#undef LIBPQ_DECLARE
