#ifndef CZLIB_H
#define CZLIB_H

#include <stddef.h>

// Unpacks bytes with the system's zlib, whose own names are macros that Swift cannot import.
typedef struct vault_inflater vault_inflater;

enum vault_inflater_result { VAULT_INFLATER_DAMAGED = -1, VAULT_INFLATER_MORE = 0, VAULT_INFLATER_END = 1 };

// How the bytes are packed: as gzip (RFC 1952), zlib (RFC 1950) or bare deflate (RFC 1951).
enum vault_inflater_format { VAULT_INFLATER_GZIP = 31, VAULT_INFLATER_ZLIB = 15, VAULT_INFLATER_DEFLATE = -15 };

// Null without memory.
vault_inflater *vault_inflater_new(int format);
void vault_inflater_free(vault_inflater *inflater);

// Begins with the next member of the file. Not zero for success.
int vault_inflater_reset(vault_inflater *inflater);

// Takes from `input` and puts into `output` what it can; the counts say afterwards how much that was.
int vault_inflater_step(
    vault_inflater *inflater, const unsigned char *input, size_t *inputCount, unsigned char *output,
    size_t *outputCount);

#endif
