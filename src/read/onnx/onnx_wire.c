/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_wire.c -- an ONNX file as protobuf-c takes it: without its weights.
 *
 * protobuf-c copies every field of bytes.  So the file is walked once, tags and lengths only, and
 * rewritten with each large raw_data replaced by its offset in the file and its size (fields 1000
 * and 1001 of onnx.proto).  The rest is a few hundred kilobytes even if the file has gigabytes,
 * which also lifts protobuf-c's own limit of two. */
#include "onnx_program.h"

enum { SMALL = 64, DEEPEST = 48 };
enum { VARINT, FIXED64, BYTES, FIXED32 = 5 };

typedef enum kind { MODEL, GRAPH, FUNCTION, NODE, ATTRIBUTE, TENSOR, SPARSE, OTHER } kind;

/* Which field of which message holds messages that may have tensors in them. */
static const struct step {
    kind in;
    uint32_t field;
    kind is;
} steps[] = {
    {MODEL, 7, GRAPH},         {MODEL, 25, FUNCTION},     {GRAPH, 1, NODE},
    {GRAPH, 5, TENSOR},        {GRAPH, 15, SPARSE},       {FUNCTION, 7, NODE},
    {FUNCTION, 11, ATTRIBUTE}, {NODE, 5, ATTRIBUTE},      {ATTRIBUTE, 5, TENSOR},
    {ATTRIBUTE, 6, GRAPH},     {ATTRIBUTE, 10, TENSOR},   {ATTRIBUTE, 11, GRAPH},
    {ATTRIBUTE, 22, SPARSE},   {SPARSE, 1, TENSOR},       {SPARSE, 2, TENSOR},
};

static kind inside(kind in, uint32_t field)
{
    for (size_t i = 0; i < TC_COUNT(steps); i++)
        if (steps[i].in == in && steps[i].field == field)
            return steps[i].is;
    return OTHER;
}

typedef struct cursor {
    const uint8_t *begin, *at, *end;
} cursor;

static bool varint(cursor *c, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 64 && c->at < c->end; shift += 7) {
        uint8_t byte = *c->at++;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

typedef struct field {
    const uint8_t *from; /* its tag */
    uint32_t number, type;
    const uint8_t *data; /* BYTES */
    uint64_t size;
} field;

/* The next field; false at the end and where there is none (then c->at is not c->end). */
static bool next(cursor *c, field *f)
{
    uint64_t tag, skip = 0;
    const uint8_t *from = c->at;
    if (c->at == c->end || !varint(c, &tag))
        return false;
    *f = (field){.from = from, .number = (uint32_t)(tag >> 3), .type = (uint32_t)(tag & 7)};
    bool good = tag >> 3 && tag >> 3 < UINT32_C(1) << 29;
    switch (f->type) {
    case VARINT:
        good = good && varint(c, &skip);
        skip = 0;
        break;
    case FIXED64:
        skip = 8;
        break;
    case FIXED32:
        skip = 4;
        break;
    case BYTES:
        good = good && varint(c, &skip);
        break;
    default:
        good = false;
    }
    if (!good || skip > (uint64_t)(c->end - c->at)) {
        c->at = from;
        return false;
    }
    f->data = c->at;
    f->size = skip;
    c->at += skip;
    return true;
}

/* A length in five bytes, so that it can be filled in when it is known. */
static void put_length(uint8_t *at, uint64_t size)
{
    for (int i = 0; i < 5; i++)
        at[i] = (uint8_t)((size >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
}

static void put_tag(tc_buf *out, uint32_t number, uint32_t type)
{
    for (uint32_t tag = number << 3 | type;; tag >>= 7) {
        ti_buf_u8(out, (uint8_t)((tag & 0x7f) | (tag > 0x7f ? 0x80 : 0)));
        if (tag <= 0x7f)
            return;
    }
}

/* NULL, or what is wrong with the message. */
static const char *cut(tc_buf *out, kind is, cursor c, int depth)
{
    enum { RAW_DATA = 9, RAW_AT = 1000, RAW_SIZE = 1001 };
    field f;
    if (depth > DEEPEST)
        return "messages nested too deep";
    while (next(&c, &f)) {
        kind child = f.type == BYTES ? inside(is, f.number) : OTHER;
        if (is == TENSOR && (f.number == RAW_AT || f.number == RAW_SIZE))
            continue; /* ours to write */
        if (is == TENSOR && f.number == RAW_DATA && f.type == BYTES && f.size > SMALL) {
            put_tag(out, RAW_AT, FIXED64);
            ti_buf_u64(out, (uint64_t)(f.data - c.begin));
            put_tag(out, RAW_SIZE, FIXED64);
            ti_buf_u64(out, f.size);
        } else if (child != OTHER) {
            put_tag(out, f.number, BYTES);
            ti_buf_zeros(out, 5);
            size_t before = out->size;
            const char *wrong =
                cut(out, child, (cursor){c.begin, f.data, f.data + f.size}, depth + 1);
            if (wrong)
                return wrong;
            if (out->size - before > INT32_MAX)
                return "more than 2 GB of graph besides the weights";
            put_length(out->data + before - 5, out->size - before);
        } else {
            ti_buf_put(out, f.from, (size_t)(c.at - f.from));
        }
    }
    return c.at == c.end ? NULL : "a field that is wrong or ends after its message";
}

const char *ti_onnx_cut(tc_arena *arena, tc_bytes file, tc_bytes *out)
{
    tc_buf buf;
    ti_buf_init(&buf, arena);
    const char *wrong = cut(&buf, MODEL, (cursor){file.data, file.data, file.data + file.size}, 0);
    *out = (tc_bytes){buf.data, buf.size};
    return wrong;
}

bool ti_onnx_looks_like(tc_bytes file)
{
    /* by field number: 1 + the type on the wire of a model's fields */
    static const uint8_t known[] = {[1] = 1 + VARINT, [2] = 1 + BYTES,  [3] = 1 + BYTES,
                                    [4] = 1 + BYTES,  [5] = 1 + VARINT, [6] = 1 + BYTES,
                                    [7] = 1 + BYTES,  [8] = 1 + BYTES,  [14] = 1 + BYTES,
                                    [20] = 1 + BYTES, [25] = 1 + BYTES, [26] = 1 + BYTES};
    cursor c = {file.data, file.data, file.data + file.size};
    field f;
    bool graph = false;
    while (next(&c, &f)) {
        if (f.number >= TC_COUNT(known) || known[f.number] != 1 + f.type)
            return false;
        graph = graph || f.number == 7;
    }
    return graph && c.at == c.end;
}
