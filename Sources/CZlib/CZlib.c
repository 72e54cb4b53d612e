#include "CZlib.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

struct vault_inflater {
    z_stream stream;
};

// The formats are zlib's own numbers for the largest window, and what stands around the data.
vault_inflater *vault_inflater_new(int format) {
    vault_inflater *inflater = calloc(1, sizeof *inflater);
    if (!inflater) return 0;
    if (inflateInit2(&inflater->stream, format) == Z_OK) return inflater;
    free(inflater);
    return 0;
}

void vault_inflater_free(vault_inflater *inflater) {
    if (!inflater) return;
    inflateEnd(&inflater->stream);
    free(inflater);
}

int vault_inflater_reset(vault_inflater *inflater) { return inflateReset(&inflater->stream) == Z_OK; }

int vault_inflater_step(
    vault_inflater *inflater, const unsigned char *input, size_t *inputCount, unsigned char *output,
    size_t *outputCount) {
    z_stream *stream = &inflater->stream;
    uInt given = *inputCount > UINT_MAX ? UINT_MAX : (uInt)*inputCount;
    uInt room = *outputCount > UINT_MAX ? UINT_MAX : (uInt)*outputCount;
    stream->next_in = (Bytef *)input;
    stream->avail_in = given;
    stream->next_out = output;
    stream->avail_out = room;
    int code = inflate(stream, Z_NO_FLUSH);
    *inputCount = given - stream->avail_in;
    *outputCount = room - stream->avail_out;
    stream->next_in = 0;
    stream->next_out = 0;
    if (code == Z_STREAM_END) return VAULT_INFLATER_END;
    return code == Z_OK || code == Z_BUF_ERROR ? VAULT_INFLATER_MORE : VAULT_INFLATER_DAMAGED;
}
