/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_weights.c -- parameters, buffers and constants: found by name, read when a node first uses
 * them.
 *
 * A payload is a whole storage; the tensor is a view of it.  A contiguous one is used in place, any
 * other is gathered into a copy.  Names of the same elements share one constant. */
#include "pt2_program.h"

/* Members */

static tc_member *member(tc_pt2 *reader, const char *folder, const char *name)
{
    tc_mark mark = ti_arena_mark(&reader->ctx->scratch);
    tc_member *m = ti_archive_find(&reader->archive, ti_text_format(&reader->ctx->scratch, "%s%s%s",
                                                                    reader->root, folder, name));
    ti_arena_rewind(&reader->ctx->scratch, mark);
    return m;
}

/* The members of {"config": {name: payload}} by name. */
static tc_status read_config(tc_pt2 *reader, const char *folder, const char *suffix, tc_map *out)
{
    const char *name = ti_text_format(&reader->work, "%s_%s_config.json", reader->model, suffix);
    tc_member *m = member(reader, folder, name);
    if (!m)
        return TC_OK;
    tc_bytes text;
    TC_TRY(ti_archive_read(&reader->archive, m, &text));
    const char *reason;
    size_t at;
    const tc_json *json = ti_json_parse(&reader->work, text, &reason, &at);
    const tc_json *config = ti_json_get(json, "config");
    if (!ti_json_is(config, TC_JSON_OBJECT))
        return ti_error(reader->ctx, ti_archive_loc(&reader->archive, m->name), TC_E_FORMAT,
                        "byte %zu: %s", at, reason ? reason : "there is no list of payloads");
    for (const tc_json *key = config->as.child; key; key = key->next->next)
        *ti_map_at(out, ti_json_text(&reader->work, key)) = (void *)(uintptr_t)key->next;
    return TC_OK;
}

static tc_status read_pickle(tc_pt2 *reader, tc_member *m, tc_map *out)
{
    tc_bytes bytes;
    TC_TRY(ti_archive_read(&reader->archive, m, &bytes));
    reader->pickled = true;
    return ti_pickle_read(reader->ctx, &reader->work, reader->file, m->name, bytes, out);
}

/* The first of these members that is there. */
static tc_member *first_of(tc_pt2 *reader, const char *const name[2])
{
    for (int i = 0; i < 2; i++) {
        tc_member *m = name[i] ? ti_archive_find(&reader->archive, name[i]) : NULL;
        if (m)
            return m;
    }
    return NULL;
}

tc_status ti_pt2_open_weights(tc_pt2 *reader)
{
    static const char *const old_weights[2] = {"serialized_state_dict.pt",
                                               "serialized_state_dict.json"};
    static const char *const old_constants[2] = {"serialized_constants.pt",
                                                 "serialized_constants.json"};
    ti_map_init(&reader->weight, &reader->work);
    ti_map_init(&reader->constant, &reader->work);
    ti_map_init(&reader->cell, &reader->work);
    tc_member *weights, *constants;
    if (!*reader->root) {
        weights = first_of(reader, old_weights);
        constants = first_of(reader, old_constants);
    } else {
        const char *name = ti_text_format(&reader->work, "%s.pt", reader->model);
        weights = member(reader, "data/weights/", name);
        constants = member(reader, "data/constants/", name);
    }
    if (weights)
        TC_TRY(read_pickle(reader, weights, &reader->weight));
    if (constants)
        TC_TRY(read_pickle(reader, constants, &reader->constant));
    if (reader->pickled || !*reader->root)
        return TC_OK;
    TC_TRY(read_config(reader, "data/weights/", "weights", &reader->weight));
    return read_config(reader, "data/constants/", "constants", &reader->constant);
}

/* Payloads */

typedef struct place {
    tc_pt2 *reader;
    const char *name; /* of the parameter, buffer or constant */
    const tc_loc *loc;
} place;

static tc_status bad_payload(const place *p, tc_diag_id id, const char *reason)
{
    return ti_error(p->reader->ctx, p->loc, id, "'%s': %s", p->name, reason);
}

static bool read_ints(tc_pt2 *reader, const tc_json *list, int32_t *count, int64_t *out)
{
    *count = 0;
    if (!ti_json_is(list, TC_JSON_LIST) || list->n > TC_MAX_RANK)
        return false;
    for (const tc_json *item = ti_json_first(list); item; item = item->next)
        if (!ti_pt2_fixed(reader, item, &out[(*count)++]))
            return false;
    return true;
}

/* A payload's description, all of it from outside. */
static tc_status read_meta(const place *p, const tc_json *meta, tc_stored *out)
{
    int64_t code = 0, layout = 7;
    int32_t n_stride;
    if (!ti_json_i64(ti_json_get(meta, "dtype"), &code))
        return bad_payload(p, TC_E_FORMAT, "the file does not describe it");
    out->dtype = ti_dtype_from_pt2(code);
    if (out->dtype == TC_none)
        return ti_unsupported(p->reader->ctx, p->loc, TC_E_UNSUPPORTED,
                              "'%s': element type %" PRId64 " of torch.export", p->name, code);
    if (ti_json_get(meta, "layout") &&
        (!ti_json_i64(ti_json_get(meta, "layout"), &layout) || layout != 7))
        return ti_unsupported(p->reader->ctx, p->loc, TC_E_UNSUPPORTED, "'%s': a sparse tensor",
                              p->name);
    if (!read_ints(p->reader, ti_json_get(meta, "sizes"), &out->rank, out->dim) ||
        !read_ints(p->reader, ti_json_get(meta, "strides"), &n_stride, out->stride) ||
        n_stride != out->rank ||
        !ti_pt2_fixed(p->reader, ti_json_get(meta, "storage_offset"), &out->offset))
        return bad_payload(p, TC_E_FORMAT,
                           "its sizes, strides and offset are not all there, or more than eight");
    return TC_OK;
}

static tc_status read_pickled_tensor(const place *p, const tc_member *m, tc_bytes bytes,
                                     tc_stored *out)
{
    tc_map one;
    ti_map_init(&one, &p->reader->work);
    TC_TRY(ti_pickle_read(p->reader->ctx, &p->reader->work, p->reader->file, m->name, bytes, &one));
    const tc_stored *tensor = ti_map_get(&one, ti_str_of(""));
    if (!tensor)
        return bad_payload(p, TC_E_FORMAT, "its file is not a plain tensor");
    *out = *tensor;
    return TC_OK;
}

/* Where {"path_name": ..., "use_pickle": ..., "tensor_meta": ...} leads. */
static tc_status read_payload(const place *p, const tc_json *payload, const char *folder,
                              tc_stored *out)
{
    tc_pt2 *reader = p->reader;
    tc_str path = ti_json_text(&reader->work, ti_json_get(payload, "path_name"));
    const char *name = path.p ? ti_text_copy(&reader->work, path) : "";
    tc_member *m = member(reader, folder, name);
    if (!m)
        return ti_error(reader->ctx, p->loc, TC_E_FORMAT,
                        "'%s': the archive has no member '%s%s%s'", p->name, reader->root, folder,
                        name);
    bool pickle = false;
    ti_json_bool(ti_json_get(payload, "use_pickle"), &pickle);
    tc_bytes bytes;
    TC_TRY(ti_archive_read(&reader->archive, m, &bytes));
    if (pickle)
        return read_pickled_tensor(p, m, bytes, out);
    TC_TRY(read_meta(p, ti_json_get(payload, "tensor_meta"), out));
    out->storage = bytes;
    return TC_OK;
}

/* Every element must be inside the storage. */
static tc_status check_extent(const place *p, const tc_stored *s)
{
    int64_t count = ti_dims_count(s->rank, s->dim), last = s->offset, reach;
    int64_t held = (int64_t)(s->storage.size / tc_dtypes[s->dtype].bytes);
    if (count < 0)
        return bad_payload(p, TC_E_TOO_LARGE, "a dimension is negative or too large");
    if (count == 0)
        return TC_OK;
    if (!s->storage.size) {
        tc_status status = bad_payload(p, TC_E_FORMAT, "it has a shape but no data");
        ti_note(p->reader->ctx, p->loc,
                "the program was exported from a model without weights (fake tensors)");
        return status;
    }
    bool fits = s->offset >= 0;
    for (int i = 0; i < s->rank && fits; i++)
        fits = s->stride[i] >= 0 && !__builtin_mul_overflow(s->dim[i] - 1, s->stride[i], &reach) &&
               !__builtin_add_overflow(last, reach, &last);
    if (!fits || last >= held)
        return ti_error(p->reader->ctx, p->loc, TC_E_TRUNCATED,
                        "'%s': its shape, strides and offset reach past its %" PRId64
                        " stored elements",
                        p->name, held);
    return TC_OK;
}

static bool contiguous(const tc_stored *s)
{
    int64_t step = 1;
    for (int i = s->rank; i-- > 0;) {
        if (s->dim[i] != 1 && s->stride[i] != step)
            return false;
        step *= s->dim[i];
    }
    return true;
}

/* The bytes of a bool must be 0 or 1; a file may hold others. */
static bool clean_bools(const uint8_t *data, size_t n)
{
    uint8_t all = 0;
    for (size_t i = 0; i < n; i++)
        all |= data[i];
    return all <= 1;
}

/* One element, its bytes turned around where the file has them so; a complex number is two floats.
 */
static void copy_element(uint8_t *out, const uint8_t *in, const tc_stored *s, size_t bytes)
{
    if (!s->swapped) {
        memcpy(out, in, bytes);
        return;
    }
    size_t part = s->dtype == TC_c64 ? 4 : bytes;
    for (size_t i = 0; i < bytes; i++)
        out[i] = in[i / part * part + part - 1 - i % part];
}

/* n elements at stride `stride`. */
static void copy_row(uint8_t *out, const uint8_t *in, const tc_stored *s, int64_t n, int64_t stride)
{
    size_t bytes = tc_dtypes[s->dtype].bytes;
    if (stride == 1 && !s->swapped)
        memcpy(out, in, (size_t)n * bytes);
    else if (bytes == 4 && !s->swapped)
        for (int64_t i = 0; i < n; i++)
            memcpy(out + 4 * i, in + 4 * i * stride, 4);
    else
        for (int64_t i = 0; i < n; i++)
            copy_element(out + (size_t)i * bytes, in + (size_t)(i * stride) * bytes, s, bytes);
}

/* Elements in row-major order: an odometer over all axes but the last. */
static void gather(const tc_stored *s, int64_t count, uint8_t *out)
{
    size_t bytes = tc_dtypes[s->dtype].bytes;
    int64_t n = s->rank ? s->dim[s->rank - 1] : 1, stride = s->rank ? s->stride[s->rank - 1] : 1;
    int64_t index[TC_MAX_RANK] = {0}, at = s->offset;
    uint8_t *to = out;
    for (int64_t k = 0; k < count; k += n, to += (size_t)n * bytes) {
        copy_row(to, s->storage.data + (size_t)at * bytes, s, n, stride);
        for (int i = s->rank - 1; i-- > 0;) {
            at += s->stride[i];
            if (++index[i] < s->dim[i])
                break;
            at -= s->dim[i] * s->stride[i];
            index[i] = 0;
        }
    }
    if (s->dtype == TC_bool)
        for (int64_t k = 0; k < count; k++)
            out[k] = out[k] != 0;
}

/* The elements contiguous: in place, or a copy.  The extent has been checked. */
static tc_status materialize(const place *p, const tc_stored *s, const void **out)
{
    tc_pt2 *reader = p->reader;
    size_t bytes = tc_dtypes[s->dtype].bytes;
    int64_t count = ti_dims_count(s->rank, s->dim);
    size_t size = (size_t)count * bytes;
    const uint8_t *data = count ? s->storage.data + (size_t)s->offset * bytes : NULL;
    *out = data;
    bool in_place = contiguous(s) && (uintptr_t)data % bytes == 0 && (!s->swapped || bytes == 1) &&
                    (s->dtype != TC_bool || clean_bools(data, size));
    if (!count || in_place)
        return TC_OK;
    /* An expanded tensor may be larger than its storage: copies stay in proportion to the file. */
    size_t most = ((size_t)64 << 20) + 16 * reader->archive.bytes.size;
    if (size > most - reader->materialized)
        return bad_payload(p, TC_E_TOO_LARGE, "written out, it would be far larger than the file");
    reader->materialized += size;
    uint8_t *copy = ti_arena_raw(&reader->ctx->arena, size);
    gather(s, count, copy);
    *out = copy;
    return TC_OK;
}

/* The cell of the same elements under another name, or a slot for a new one. */
static void **shared_cell(tc_pt2 *reader, const tc_stored *s)
{
    struct {
        const uint8_t *data;
        int64_t dtype, rank, offset, dim[TC_MAX_RANK], stride[TC_MAX_RANK];
    } key;
    memset(&key, 0, sizeof key);
    key.data = s->storage.data;
    key.dtype = s->dtype;
    key.rank = s->rank;
    key.offset = s->offset;
    for (int i = 0; i < s->rank; i++) {
        key.dim[i] = s->dim[i];
        key.stride[i] = s->dim[i] == 1 ? 0 : s->stride[i];
    }
    return ti_map_at(&reader->cell, (tc_str){(const char *)&key, sizeof key});
}

static tc_status find_payload(const place *p, bool constant, tc_stored *out)
{
    tc_pt2 *reader = p->reader;
    tc_str name = ti_str_of(p->name);
    for (int i = 0; i < 2; i++, constant = !constant) {
        const void *found = ti_map_get(constant ? &reader->constant : &reader->weight, name);
        if (!found)
            continue;
        if (!reader->pickled)
            return read_payload(p, found, constant ? "data/constants/" : "data/weights/", out);
        *out = *(const tc_stored *)found;
        return TC_OK;
    }
    return bad_payload(p, TC_E_FORMAT,
                       "the archive does not hold this parameter, buffer or constant");
}

/* The declared type of the name must be the stored one. */
static tc_status check_declared(const place *p, tc_pt2_scope *scope, const tc_pt2_name *name,
                                const tc_type *type)
{
    if (!ti_map_get(&scope->declared, name->name))
        return TC_OK;
    tc_status status = TC_OK;
    const tc_type *declared = ti_pt2_declared(scope, name->name, p->loc, &status);
    if (!declared || declared == type)
        return status;
    tc_mark mark = ti_arena_mark(&p->reader->ctx->scratch);
    tc_arena *scratch = &p->reader->ctx->scratch;
    status =
        ti_error(p->reader->ctx, p->loc, TC_E_MISMATCH, "'%s' is stored as %s, the graph says %s",
                 p->name, ti_type_text(scratch, type), ti_type_text(scratch, declared));
    ti_arena_rewind(scratch, mark);
    return status;
}

tc_status ti_pt2_load(tc_pt2_scope *scope, tc_pt2_name *name, const tc_loc *loc)
{
    tc_pt2 *reader = scope->reader;
    place p = {reader, name->full_name, loc};
    tc_stored *s = tc_new(&reader->work, tc_stored);
    TC_TRY(find_payload(&p, name->constant, s));
    TC_TRY(check_extent(&p, s));
    const tc_type *type = ti_type_make(reader->ctx, s->dtype, s->rank, s->dim);
    TC_TRY(check_declared(&p, scope, name, type));
    void **shared = s->storage.size ? shared_cell(reader, s) : NULL;
    tc_pt2_cell *cell = shared ? *shared : NULL;
    if (!cell) {
        const void *data;
        TC_TRY(materialize(&p, s, &data));
        tc_loc *own = tc_new(&reader->ctx->arena, tc_loc);
        *own = (tc_loc){.file = reader->file, .node = name->full_name};
        cell = tc_new(&reader->work, tc_pt2_cell);
        cell->val = ti_graph_const(scope->g, type, data, name->full_name, own);
        cell->stored = cell->val;
        scope->g->val[cell->val]->state = name->changes;
        cell->payload = s;
        cell->meta = ti_map_get(&scope->declared, name->name);
        if (shared)
            *shared = cell;
    }
    name->kind = TC_PT2_CELL;
    name->cell = cell;
    return TC_OK;
}
