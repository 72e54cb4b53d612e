/* The C side of the benchmarks. Arguments and output as in Sources/vault-bench/main.swift. */
#include "vault.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t state;

static uint64_t next(uint64_t users) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % users;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* In KiB. Not by getrusage, which also counts what the process was before it became this program. */
static long peak_memory(void) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long peak = 0;
    if (status == NULL) fail("/proc cannot be read");
    while (fgets(line, sizeof line, status) != NULL) {
        if (sscanf(line, "VmHWM: %ld", &peak) == 1) break;
    }
    fclose(status);
    return peak;
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fprintf(stderr, "reference: read|known|update|update64|open|memory|tick VAULT KEY LOGINS COUNT SEED\n");
        return 64;
    }
    const char *verb = argv[1], *path = argv[2], *key_file = argv[3];
    uint64_t users = strtoull(argv[4], NULL, 10);
    size_t count = strtoull(argv[5], NULL, 10);
    state = strtoull(argv[6], NULL, 10) | 1;
    if (sodium_init() < 0) fail("libsodium does not start");

    /* The user ids are made beforehand, as on the other side. */
    char (*ids)[24] = malloc(count * sizeof *ids);
    if (ids == NULL) fail("out of memory");
    for (size_t i = 0; i < count; i++) snprintf(ids[i], sizeof ids[i], "user-%08u", (unsigned)next(users));

    static uint8_t token[4096];
    size_t bytes = 0;
    Vault vault;
    double start = 0;
    if (strcmp(verb, "open") == 0) {
        start = now();
        for (size_t i = 0; i < count; i++) {
            vault_open(&vault, path, key_file);
            bytes += vault_read(&vault, ids[i], token);
            vault_close(&vault);
        }
    } else {
        vault_open(&vault, path, key_file);
        bool known = strcmp(verb, "known") == 0;
        for (size_t i = 0; known && i < count; i++) bytes += vault_read(&vault, ids[i], token);
        start = now();
        if (known || strcmp(verb, "read") == 0 || strcmp(verb, "memory") == 0) {
            for (size_t i = 0; i < count; i++) bytes += vault_read(&vault, ids[i], token);
        } else if (strcmp(verb, "update") == 0 || strcmp(verb, "update64") == 0) {
            /* The second is what a writer does for 64 callers who wait for it: one commit for all of them. */
            size_t together = strcmp(verb, "update") == 0 ? 1 : 64;
            char text[1001];
            for (size_t i = 0; i < count; i++) {
                if (i % together == 0) vault_begin(&vault);
                int length = snprintf(text, sizeof text, "token-%zu-1-", i);
                memset(text + length, 'x', 1000 - (size_t)length);
                text[1000] = 0;
                vault_update(&vault, ids[i], text);
                if (i % together == together - 1 || i == count - 1) vault_commit(&vault);
            }
            bytes = 1;
        } else if (strcmp(verb, "tick") == 0) {
            for (size_t i = 0; i < count; i++) bytes += vault_tick(&vault, 100);
        } else {
            return 64;
        }
    }
    double elapsed = now() - start;
    if (bytes == 0) fail("nothing was read");
    if (strcmp(verb, "memory") == 0) {
        printf("%ld\n", peak_memory());
    } else {
        printf("%f %zu\n", elapsed / (double)count, count);
    }
    if (strcmp(verb, "open") != 0) vault_close(&vault);
    free(ids);
    return 0;
}
