#include "vault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fail(const char *what) {
    fprintf(stderr, "reference: %s\n", what);
    exit(1);
}

static void put(Facts *f, uint8_t type, const void *bytes, size_t count) {
    f->bytes[f->count] = type;
    uint16_t length = (uint16_t)count;
    memcpy(f->bytes + f->count + 1, &length, 2);
    memcpy(f->bytes + f->count + 3, bytes, count);
    f->count += 3 + count;
}

void facts_begin(Facts *f, const uint8_t vault_id[16], const char *table) {
    f->count = 0;
    put(f, 2, vault_id, 16);
    put(f, 3, table, strlen(table));
}

void facts_bytes(Facts *f, const void *bytes, size_t count) { put(f, 2, bytes, count); }

void facts_text(Facts *f, const void *text, size_t count) { put(f, 3, text, count); }

void facts_integer(Facts *f, int64_t value) {
    f->bytes[f->count] = 1;
    memcpy(f->bytes + f->count + 1, &value, 8);
    f->count += 9;
}

void facts_absent(Facts *f) { f->bytes[f->count++] = 0; }

int record_next(Record *r, Field *field) {
    if (r->at == r->end) return 0;
    field->tag = *r->at++;
    size_t count = 0;
    for (int shift = 0;; shift += 7) {
        if (r->at == r->end || shift > 21) fail("a record ends inside a field");
        uint8_t byte = *r->at++;
        count |= (size_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) break;
    }
    if ((size_t)(r->end - r->at) < count) fail("a record ends inside a field");
    field->bytes = r->at;
    field->count = count;
    r->at += count;
    return 1;
}

size_t record_put(uint8_t *to, uint8_t tag, const void *bytes, size_t count) {
    uint8_t *at = to;
    *at++ = tag;
    size_t rest = count;
    while (rest >= 0x80) {
        *at++ = (uint8_t)(rest | 0x80);
        rest >>= 7;
    }
    *at++ = (uint8_t)rest;
    memcpy(at, bytes, count);
    return (size_t)(at - to) + count;
}

/* header 24, nonce 24, commitment 32, ciphertext n × 128, tag 16 */
static void derive(const uint8_t *cell, const Key *key, const Facts *facts, uint8_t derived[64]) {
    uint8_t message[48 + sizeof facts->bytes];
    memcpy(message, cell + 24, 24);
    memcpy(message + 24, cell, 24);
    memcpy(message + 48, facts->bytes, facts->count);
    crypto_generichash_blake2b(derived, 64, message, 48 + facts->count, key->bytes, 32);
}

/* Where the text ends: at the last byte that is not zero, which must be the mark. The text is authentic by now, so
   nothing is learnt from the time this takes, and eight bytes at once do. */
static size_t unpad(const uint8_t *text, size_t count) {
    size_t end = count;
    uint64_t word = 0;
    while (end >= 8 && (memcpy(&word, text + end - 8, 8), word == 0)) end -= 8;
    while (end > 0 && text[end - 1] == 0) end--;
    if (end == 0 || count - end >= 128 || text[end - 1] != 0x80) fail("padding is wrong");
    return end - 1;
}

size_t cell_open(const uint8_t *cell, size_t count, uint8_t kind, const Key *key, const Facts *facts, uint8_t *to) {
    const uint8_t start[8] = {'T', 'V', 'C', 'L', 1, 1, kind, 0};
    if (count < 224 || (count - 96) % 128 != 0 || memcmp(cell, start, 8) != 0) fail("not a cell of this kind");
    if (memcmp(cell + 8, key->id, 16) != 0) fail("a cell of another key");
    uint8_t derived[64];
    derive(cell, key, facts, derived);
    if (sodium_memcmp(derived + 32, cell + 48, 32) != 0) fail("a commitment is wrong");
    int status = crypto_aead_xchacha20poly1305_ietf_decrypt(
        to, NULL, NULL, cell + 80, count - 80, NULL, 0, cell + 24, derived);
    sodium_memzero(derived, sizeof derived);
    if (status != 0) fail("a tag is wrong");
    return unpad(to, count - 96);
}

size_t cell_seal(uint8_t *cell, uint8_t kind, const Key *key, const Facts *facts, const uint8_t *text, size_t count) {
    const uint8_t start[8] = {'T', 'V', 'C', 'L', 1, 1, kind, 0};
    memcpy(cell, start, 8);
    memcpy(cell + 8, key->id, 16);
    randombytes_buf(cell + 24, 24);
    uint8_t derived[64];
    derive(cell, key, facts, derived);
    memcpy(cell + 48, derived + 32, 32);
    size_t padded = 0;
    memcpy(cell + 80, text, count);
    sodium_pad(&padded, cell + 80, count, 128, count + 128);
    crypto_aead_xchacha20poly1305_ietf_encrypt(
        cell + 80, NULL, cell + 80, padded, NULL, 0, NULL, cell + 24, derived);
    sodium_memzero(derived, sizeof derived);
    return 96 + padded;
}
