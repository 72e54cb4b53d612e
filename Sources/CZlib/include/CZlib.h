#ifndef CZLIB_H
#define CZLIB_H

#include <stddef.h>

// Unpacks one gzip file with the system's zlib, whose own names are macros that Swift cannot import.
typedef struct vault_inflater vault_inflater;

enum vault_inflater_result { VAULT_INFLATER_DAMAGED = -1, VAULT_INFLATER_MORE = 0, VAULT_INFLATER_END = 1 };

// Null without memory.
vault_inflater *vault_inflater_new(void);
void vault_inflater_free(vault_inflater *inflater);

// Begins with the next member of the file. Not zero for success.
int vault_inflater_reset(vault_inflater *inflater);

// Takes from `input` and puts into `output` what it can; the counts say afterwards how much that was.
int vault_inflater_step(
    vault_inflater *inflater, const unsigned char *input, size_t *inputCount, unsigned char *output,
    size_t *outputCount);

#endif
