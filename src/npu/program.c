/* SPDX-License-Identifier: Apache-2.0 */
/* program.c -- driver payloads, ExecuTorch's blocks, Vela's archive; every number checked before it
 * is used. */
#include "program.h"

#include "../wire/archive.h"

/* A memory this large is beyond every machine, and is not set up. */
static const int64_t most_bytes = INT64_C(1) << 32;

static tc_status broken(tc_ctx *ctx, const tc_loc *loc, const char *what)
{
    return what ? ti_error(ctx, loc, TC_E_FORMAT, "the Ethos-U program is broken: %s", what)
                : TC_OK;
}

/* ---- driver payloads ---- */

static const char *settle(tc_npu_program *out)
{
    out->machine = ti_npu_machine_of(out->config);
    if (!out->machine)
        return "its configuration is that of an Ethos-U that is unknown";
    return out->words.n ? NULL : "there is no command stream";
}

/* COP1: after the tag, actions whose first word names them in its low byte. */
static const char *read_cop1(tc_bytes b, tc_npu_program *out)
{
    enum { CONFIG = 1, STREAM, READ_REGISTER, DUMP, NOP };
    bool configured = false;
    for (size_t i = 1, n = b.size / 4; i < n;) {
        uint32_t word = ti_le32(b.data + 4 * i);
        size_t length = (word >> 16) + ((size_t)(word >> 8 & 255) << 16), left = n - i;
        switch (word & 255) {
        case CONFIG:
            if (left < 3)
                return "the driver payload ends inside its configuration";
            out->config = ti_le32(b.data + 4 * i + 4);
            out->id = ti_le32(b.data + 4 * i + 8);
            configured = true;
            i += 3;
            break;
        case STREAM:
            if (length > left - 1 || out->words.n)
                return out->words.n ? "it has more than one command stream"
                                    : "the command stream is longer than the driver payload";
            out->words_at = 4 * i + 4;
            out->words = (tc_npu_words){b.data + out->words_at, length};
            i += 1 + length;
            break;
        case READ_REGISTER:
        case DUMP:
        case NOP:
            i++;
            break;
        default:
            return "the driver payload has an action that is not known";
        }
    }
    return configured ? settle(out) : "the driver payload has no configuration";
}

/* COP2: a header of 16 bytes, one entry; its metadata ends where the stream begins. */
static const char *read_cop2(tc_bytes b, tc_npu_program *out)
{
    enum {
        TYPE = 16,
        LENGTH = 20,
        META = 24,
        TAG = 28,
        CONFIG = 40,
        ID = 44,
        STAGING = 52,
        HEAD = 60
    };
    if (b.size < HEAD || ti_le32(b.data + TYPE) != 1 || memcmp(b.data + TAG, "VEUM", 4) != 0)
        return "the driver payload has no entry that is known";
    uint64_t begin = (uint64_t)TAG + ti_le32(b.data + META),
             end = (uint64_t)META + ti_le32(b.data + LENGTH);
    if (begin < HEAD || begin % 4 || end < begin || end > b.size)
        return "the command stream lies outside the driver payload";
    out->config = ti_le32(b.data + CONFIG);
    out->id = ti_le32(b.data + ID);
    out->fast =
        (int64_t)(ti_le64(b.data + STAGING) < (uint64_t)most_bytes ? ti_le64(b.data + STAGING)
                                                                   : (uint64_t)most_bytes);
    out->words_at = (size_t)begin;
    out->words = (tc_npu_words){b.data + begin, (size_t)(end - begin) / 4};
    return settle(out);
}

static const char *parse_driver(tc_bytes driver, tc_npu_program *out)
{
    out->driver = driver;
    if (driver.size >= 4 && memcmp(driver.data, "COP1", 4) == 0)
        return read_cop1(driver, out);
    if (driver.size >= 4 && memcmp(driver.data, "COP2", 4) == 0)
        return read_cop2(driver, out);
    return "the driver payload begins neither with COP1 nor with COP2";
}

tc_status ti_npu_read_driver(tc_ctx *ctx, const tc_loc *loc, tc_bytes driver, tc_npu_program *out)
{
    return broken(ctx, loc, parse_driver(driver, out));
}

/* ---- tensors and sizes ---- */

static bool settle_tensor(tc_npu_tensor *t)
{
    t->bytes = t->element_bytes;
    bool sound = (t->bytes == 1 || t->bytes == 2 || t->bytes == 4 || t->bytes == 8) &&
                 t->offset >= 0 && t->offset < most_bytes;
    for (int i = 0; sound && i < TC_NPU_DIMS; i++) {
        sound = t->dim[i] >= 0 && !__builtin_mul_overflow(t->bytes, t->dim[i], &t->bytes) &&
                t->bytes < most_bytes;
    }
    return sound;
}

const char *ti_npu_settle_tensors(tc_npu_program *p)
{
    bool sound = p->scratch >= 0 && p->scratch <= most_bytes && p->fast <= most_bytes;
    for (size_t i = 0; i < p->n_in; i++)
        sound = sound && settle_tensor(&p->in[i]);
    for (size_t i = 0; i < p->n_out; i++)
        sound = sound && settle_tensor(&p->out[i]);
    return sound ? NULL : "a tensor or a memory has an impossible size or address";
}

static void stretch(int64_t *size, int64_t end)
{
    *size = end > *size ? end : *size;
}

static void stretch_map(const tc_npu_map *m, int region, int32_t h, int32_t w, int32_t c,
                        int64_t *size)
{
    if (m->used && m->region == region)
        stretch(size, ti_npu_map_range(m, h, w, c).hi);
}

/* How far an operation reaches into the region. */
static void stretch_op(const tc_npu_op *op, int region, int64_t *size)
{
    if (op->kind == TC_NPU_KIND_DMA) {
        const tc_npu_dma *d = &op->dma;
        int64_t bytes = (int64_t)d->bytes;
        if (!d->dst_internal && d->dst_region == region && !d->dst_indexed)
            stretch(size, (int64_t)d->dst + (d->rows - 1) * d->dst_row +
                              (d->planes - 1) * d->dst_plane + bytes);
        return;
    }
    int32_t h, w, c;
    ti_npu_written(op, &h, &w, &c);
    stretch_map(&op->ofm, region, h, w, c, size);
}

int64_t ti_npu_region_bytes(const tc_npu_program *p, int region)
{
    int64_t size = region == 0                  ? (int64_t)p->weights.size
                   : region == 1                ? p->scratch
                   : region == 2 && p->fast > 0 ? p->fast
                                                : 0;
    if (region == 2 && p->fast < 0) { /* bytes never written may not be read */
        tc_npu_walk walk;
        tc_npu_op op;
        ti_npu_walk_begin(&walk, p->machine, p->words);
        while (ti_npu_walk_next(&walk, &op))
            if (ti_npu_is_kernel(op.kind) || op.kind == TC_NPU_KIND_DMA)
                stretch_op(&op, region, &size);
        size = (size + 15) / 16 * 16; /* copies are of whole sixteens */
    }
    for (size_t i = 0; region > 1 && i < p->n_in; i++)
        if (p->in[i].region == region)
            stretch(&size, p->in[i].offset + p->in[i].bytes);
    for (size_t i = 0; region > 1 && i < p->n_out; i++)
        if (p->out[i].region == region)
            stretch(&size, p->out[i].offset + p->out[i].bytes);
    return size < most_bytes ? size : most_bytes;
}

/* ---- ExecuTorch's blocks ---- */

enum { NAME = 16, HEAD = 32, ALIGN = 16, TENSOR = 4 * (TC_NPU_DIMS + 3) };

/* The next block; false at the end, or where it does not fit; elsewhere: its content is the name of it. */
static bool next_block(tc_bytes all, size_t *at, tc_str *name, tc_bytes *content, bool *elsewhere)
{
    if (*at > all.size || all.size - *at < HEAD)
        return false;
    const uint8_t *p = all.data + *at;
    size_t size = ti_le32(p + NAME), length = 0;
    if (size > all.size - *at - HEAD)
        return false;
    while (length < NAME && p[length])
        length++;
    *name = (tc_str){(const char *)p, length};
    *content = (tc_bytes){p + HEAD, size};
    *elsewhere = p[NAME + 4] != 0;
    *at += HEAD + (size + ALIGN - 1) / ALIGN * ALIGN;
    return true;
}

static bool read_tensors(tc_arena *arena, tc_bytes block, tc_npu_tensor **out, size_t *n)
{
    if (block.size < 4 || (block.size - 4) / TENSOR < ti_le32(block.data))
        return false;
    *n = ti_le32(block.data);
    *out = tc_new_n(arena, tc_npu_tensor, *n);
    for (size_t i = 0; i < *n; i++) {
        const uint8_t *p = block.data + 4 + TENSOR * i;
        tc_npu_tensor *t = &(*out)[i];
        for (int k = 0; k < TC_NPU_DIMS; k++)
            t->dim[k] = (int32_t)ti_le32(p + 4 * k);
        t->element_bytes = (int32_t)ti_le32(p + 24);
        t->offset = (int32_t)ti_le32(p + 28);
        t->region = ti_le32(p + 32) & 7;
        if (ti_le32(p + 32) >= TC_NPU_REGIONS)
            return false;
    }
    return true;
}

const char *ti_npu_parse_backend(tc_arena *arena, tc_bytes payload, tc_npu_program *out)
{
    tc_str name;
    tc_bytes block, driver = {0};
    bool first = true, sound = true, ended = false, elsewhere;
    int64_t fast = -1;
    *out = (tc_npu_program){0};
    for (size_t at = 0; sound && !ended && next_block(payload, &at, &name, &block, &elsewhere);
         first = false) {
        if (elsewhere)
            return "some of its blocks are elsewhere in its file";
        if (first)
            sound = ti_str_is(name, "vela_bin_stream");
        else if (ti_str_is(name, "cmd_data"))
            driver = block;
        else if (ti_str_is(name, "weight_data"))
            out->weights = block;
        else if (ti_str_is(name, "scratch_size") && block.size >= 4)
            out->scratch = ti_le32(block.data);
        else if (ti_str_is(name, "fast_size") && block.size >= 8)
            fast = (int64_t)(ti_le64(block.data) & INT64_MAX);
        else if (ti_str_is(name, "inputs"))
            sound = read_tensors(arena, block, &out->in, &out->n_in);
        else if (ti_str_is(name, "outputs"))
            sound = read_tensors(arena, block, &out->out, &out->n_out);
        ended = ti_str_is(name, "vela_end_stream");
    }
    if (!sound || !ended)
        return "its blocks are not those of an EthosUBackend, or not all there";
    const char *wrong = parse_driver(driver, out);
    out->fast = fast >= 0 ? fast : out->fast > 0 ? out->fast : -1;
    return wrong ? wrong : ti_npu_settle_tensors(out);
}

tc_status ti_npu_read_backend(tc_ctx *ctx, const tc_loc *loc, tc_bytes payload, tc_npu_program *out)
{
    return broken(ctx, loc, ti_npu_parse_backend(&ctx->arena, payload, out));
}

/* The header of a block of n bytes, which follow. */
static void add_head(tc_buf *out, tc_str name, size_t size, bool elsewhere)
{
    uint8_t flag = elsewhere;
    ti_buf_put(out, name.p, name.n);
    ti_buf_zeros(out, NAME - name.n);
    ti_buf_u32(out, (uint32_t)size);
    ti_buf_put(out, &flag, 1);
    ti_buf_zeros(out, HEAD - NAME - 5);
}

static void add_any(tc_buf *out, tc_str name, tc_bytes content, bool elsewhere)
{
    add_head(out, name, content.size, elsewhere);
    if (content.size)
        ti_buf_put(out, content.data, content.size);
    ti_buf_align(out, ALIGN);
}

static void add_block(tc_buf *out, const char *name, tc_bytes content)
{
    add_any(out, ti_str_of(name), content, false);
}

tc_str ti_npu_backend_key(tc_bytes payload)
{
    tc_str name;
    tc_bytes block;
    bool elsewhere;
    for (size_t at = 0; next_block(payload, &at, &name, &block, &elsewhere);)
        if (elsewhere && ti_str_is(name, "weight_data"))
            return (tc_str){(const char *)block.data, block.size};
    return (tc_str){NULL, 0};
}

tc_bytes ti_npu_backend_whole(tc_arena *arena, tc_bytes payload, tc_bytes weights)
{
    tc_buf all;
    tc_str name;
    tc_bytes block;
    bool elsewhere;
    ti_buf_init(&all, arena);
    for (size_t at = 0; next_block(payload, &at, &name, &block, &elsewhere);) {
        bool here = elsewhere && ti_str_is(name, "weight_data");
        add_any(&all, name, here ? weights : block, elsewhere && !here);
    }
    return (tc_bytes){all.data, all.size};
}

static void add_tensors(tc_buf *out, const char *name, const tc_npu_tensor *t, size_t n)
{
    tc_buf list;
    ti_buf_init(&list, out->arena);
    ti_buf_u32(&list, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < TC_NPU_DIMS; k++)
            ti_buf_u32(&list, (uint32_t)t[i].dim[k]);
        ti_buf_u32(&list, (uint32_t)t[i].element_bytes);
        ti_buf_u32(&list, (uint32_t)t[i].offset);
        ti_buf_u32(&list, t[i].region);
    }
    add_block(out, name, (tc_bytes){list.data, list.size});
}

/* Sizes and tensors. */
static void add_rest(tc_buf *out, const tc_npu_program *p)
{
    uint8_t scratch[4], fast[8];
    for (int i = 0; i < 4; i++)
        scratch[i] = (uint8_t)(p->scratch >> 8 * i);
    for (int i = 0; i < 8; i++)
        fast[i] = (uint8_t)((uint64_t)p->fast >> 8 * i);
    add_block(out, "scratch_size", (tc_bytes){scratch, sizeof scratch});
    if (p->fast >= 0)
        add_block(out, "fast_size", (tc_bytes){fast, sizeof fast});
    add_tensors(out, "inputs", p->in, p->n_in);
    add_tensors(out, "outputs", p->out, p->n_out);
}

tc_bytes ti_npu_backend_payload(tc_arena *arena, const tc_npu_program *p)
{
    tc_buf all;
    ti_buf_init(&all, arena);
    add_block(&all, "vela_bin_stream", (tc_bytes){0});
    add_block(&all, "cmd_data", p->driver);
    add_block(&all, "weight_data", p->weights);
    add_rest(&all, p);
    add_block(&all, "vela_end_stream", (tc_bytes){0});
    return (tc_bytes){all.data, all.size};
}

/*   first 0 | skip | first 1 | skip | ... | blocks of 0 | skip | blocks of 1 | ... | weights | end
 *
 * Program i begins at its first block; the skip after that goes to its own blocks, the one after
 * those to the weights.  Readers take the last of several blocks of a name, and a skip has the name
 * of the final block. */
tc_bytes ti_npu_backend_joined(tc_arena *arena, const tc_npu_program *p, size_t n, tc_bytes weights,
                               size_t *at)
{
    static const char last[] = "weight_data";
    tc_buf all, *own = tc_new_n(arena, tc_buf, n);
    size_t starts = n * 2 * HEAD, ends = starts;
    for (size_t i = 0; i < n; i++) {
        ti_buf_init(&own[i], arena);
        add_block(&own[i], "cmd_data", p[i].driver);
        add_rest(&own[i], &p[i]);
        ends += own[i].size + (i + 1 < n ? HEAD : 0);
    }
    ti_buf_init(&all, arena);
    for (size_t i = 0; i < n; i++) {
        at[i] = all.size;
        add_block(&all, "vela_bin_stream", (tc_bytes){0});
        add_head(&all, ti_str_of(last), starts - all.size - HEAD, false);
        starts += own[i].size + HEAD;
    }
    for (size_t i = 0; i < n; i++) {
        ti_buf_put(&all, own[i].data, own[i].size);
        if (i + 1 < n)
            add_head(&all, ti_str_of(last), ends - all.size - HEAD, false);
    }
    add_block(&all, last, weights);
    add_block(&all, "vela_end_stream", (tc_bytes){0});
    return (tc_bytes){all.data, all.size};
}

/* ---- Vela's archive ---- */

typedef struct answer {
    tc_ctx *ctx;
    tc_archive archive;
    bool broken;
} answer;

bool ti_npu_looks_like_backend(tc_bytes bytes)
{
    static const char first[16] = "vela_bin_stream";
    return bytes.size > sizeof first && memcmp(bytes.data, first, sizeof first) == 0;
}

bool ti_npu_looks_like_npz(tc_bytes bytes)
{
    static const char first[] =
        "cmd_data.npy"; /* is among the first members, whose names are in the file */
    if (!ti_archive_looks_like(bytes))
        return false;
    for (size_t i = 0; i + sizeof first - 1 <= bytes.size && i < 4096; i++)
        if (memcmp(bytes.data + i, first, sizeof first - 1) == 0)
            return true;
    /* or else in the directory, near the end */
    for (size_t i = bytes.size > 8192 ? bytes.size - 8192 : 0; i + sizeof first - 1 <= bytes.size;
         i++)
        if (memcmp(bytes.data + i, first, sizeof first - 1) == 0)
            return true;
    return false;
}

/* The elements of a member, after its .npy header; empty when it is missing or malformed. */
static tc_bytes member(answer *a, const char *name)
{
    tc_bytes all = {0};
    tc_member *m = ti_archive_find(&a->archive, ti_text_format(&a->ctx->arena, "%s.npy", name));
    if (!m || ti_archive_read(&a->archive, m, &all) != TC_OK || all.size < 12 ||
        memcmp(all.data, "\x93NUMPY", 6) != 0) {
        a->broken = true;
        return (tc_bytes){0};
    }
    size_t header =
        all.data[6] == 1 ? 10 + (size_t)ti_le16(all.data + 8) : 12 + (size_t)ti_le32(all.data + 8);
    a->broken = a->broken || header > all.size;
    return header > all.size ? (tc_bytes){0} : (tc_bytes){all.data + header, all.size - header};
}

static int64_t integer_at(tc_bytes b, size_t i)
{
    return (i + 1) * 8 <= b.size ? (int64_t)ti_le64(b.data + 8 * i) : 0;
}

static int64_t integer(answer *a, const char *name)
{
    tc_bytes b = member(a, name);
    a->broken = a->broken || b.size < 8;
    return integer_at(b, 0);
}

static void list(answer *a, const char *side, tc_npu_tensor **out, size_t *n)
{
    tc_arena *arena = &a->ctx->arena;
    tc_bytes shape = member(a, ti_text_format(arena, "%s_shape", side)),
             element = member(a, ti_text_format(arena, "%s_elem_size", side));
    tc_bytes offset = member(a, ti_text_format(arena, "%s_offset", side)),
             region = member(a, ti_text_format(arena, "%s_region", side));
    *n = element.size / 8;
    if (shape.size != *n * TC_NPU_DIMS * 8 || offset.size != *n * 8 || region.size != *n * 8) {
        a->broken = true;
        *n = 0;
    }
    *out = tc_new_n(arena, tc_npu_tensor, *n);
    for (size_t i = 0; i < *n; i++) {
        tc_npu_tensor *t = &(*out)[i];
        for (size_t k = 0; k < TC_NPU_DIMS; k++)
            t->dim[k] = integer_at(shape, i * TC_NPU_DIMS + k);
        t->element_bytes = integer_at(element, i);
        t->offset = integer_at(offset, i);
        int64_t r = integer_at(region, i);
        a->broken = a->broken || r < 0 || r >= TC_NPU_REGIONS;
        t->region = (uint8_t)(r & 7);
    }
}

static void append(tc_arena *arena, tc_npu_tensor **list, size_t *n, const tc_npu_tensor *more,
                   size_t n_more)
{
    tc_npu_tensor *all = tc_new_n(arena, tc_npu_tensor, *n + n_more + 1);
    for (size_t i = 0; i < *n + n_more; i++)
        all[i] = i < *n ? (*list)[i] : more[i - *n];
    *list = all;
    *n += n_more;
}

/* Variables are inputs and outputs.  Of several at one address the first counts; Vela before 5.0
 * has none. */
static void add_state(answer *a, tc_npu_program *out)
{
    tc_npu_tensor *state;
    size_t n = 0, all;
    if (!ti_archive_find(&a->archive, "variable_shape.npy"))
        return;
    list(a, "variable", &state, &all);
    for (size_t i = 0, k; i < all; i++) {
        for (k = 0; k < n; k++)
            if (state[k].region == state[i].region && state[k].offset == state[i].offset)
                break;
        if (k == n)
            state[n++] = state[i];
    }
    append(&a->ctx->arena, &out->in, &out->n_in, state, n);
    append(&a->ctx->arena, &out->out, &out->n_out, state, n);
    out->n_state = n;
}

tc_status ti_npu_read_npz(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_npu_program *out)
{
    answer a = {.ctx = ctx};
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    loc->file = file;
    *out = (tc_npu_program){0};
    TC_TRY(ti_archive_open(ctx, &ctx->arena, file, NULL, bytes, &a.archive));
    tc_bytes driver = member(&a, "cmd_data");
    out->weights = member(&a, "weight_data");
    out->scratch = integer(&a, "scratch_size");
    out->fast = integer(&a, "scratch_fast_size");
    list(&a, "input", &out->in, &out->n_in);
    list(&a, "output", &out->out, &out->n_out);
    add_state(&a, out);
    if (a.broken || out->fast < 0)
        return broken(ctx, loc,
                      "the archive lacks members that Vela writes, or they are wrong");
    int64_t fast = out->fast;
    TC_TRY(ti_npu_read_driver(ctx, loc, driver, out));
    out->fast = fast;
    return broken(ctx, loc, ti_npu_settle_tensors(out));
}

size_t ti_npu_records_upto(const void *record, size_t n, size_t stride, size_t word)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2, at;
        memcpy(&at, (const char *)record + middle * stride, sizeof at);
        if (at <= word)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
