/* SPDX-License-Identifier: Apache-2.0 */
/* vgf.c -- the VGF container; see vgf.h. */
#include "vgf.h"

#include "flatbuf.h"

enum { HEADER = 128, SECTIONS_AT = 16, ALIGN = 8, CONSTANT_ROW = 24, CONSTANT_HEAD = 16 };
enum { SECTION_MODULE, SECTION_SEQUENCE, SECTION_RESOURCE, SECTION_CONSTANT, SECTIONS };

/* Fields of the tables. */
enum { MODULE_TYPE, MODULE_NAME, MODULE_ENTRY, MODULE_CODE_TYPE, MODULE_CODE };
enum { SEQUENCE_SEGMENTS, SEQUENCE_IN, SEQUENCE_OUT, SEQUENCE_IN_NAMES, SEQUENCE_OUT_NAMES };
enum {
    SEGMENT_TYPE,
    SEGMENT_NAME,
    SEGMENT_MODULE,
    SEGMENT_SETS,
    SEGMENT_IN,
    SEGMENT_OUT,
    SEGMENT_CONSTANTS,
    SEGMENT_DISPATCH,
    SEGMENT_PUSH_CONSTANTS,
    SEGMENT_CONSTANT_BINDINGS
};
enum { SLOT_BINDING, SLOT_RESOURCE };
enum { RESOURCE_DESCRIPTOR, RESOURCE_FORMAT, RESOURCE_CATEGORY, RESOURCE_DESCRIPTION };
enum { DESCRIPTION_SHAPE, DESCRIPTION_STRIDES };

static const char magic[4] = {'V', 'G', 'F', '1'};
static const char constant_magic[8] = "CONST00";

static size_t aligned(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* ---- writing --------------------------------------------------------------------------------- */

static tc_fb_ref put_text(tc_fb_writer *w, const char *text)
{
    return ti_fb_put_string(w, ti_str_of(text ? text : ""));
}

static tc_fb_ref put_u32s(tc_fb_writer *w, tc_arena *scratch, const uint32_t *v, size_t n)
{
    int64_t *wide = tc_new_n(scratch, int64_t, n);
    for (size_t i = 0; i < n; i++)
        wide[i] = v[i];
    return ti_fb_put_i32s(w, wide, n);
}

static tc_fb_ref put_code(tc_fb_writer *w, const tc_vgf_module *m)
{
    tc_fb_ref words = ti_fb_put_words(w, m->code);
    ti_fb_begin(w);
    ti_fb_set_ref(w, 0, words);
    return ti_fb_end(w);
}

static tc_bytes module_section(tc_ctx *ctx, const tc_vgf *vgf)
{
    const uint8_t missing = UINT8_MAX; /* numbers are written, zeros too */
    tc_fb_writer w;
    ti_fb_write(&w, &ctx->arena, 4096);
    tc_fb_ref *ref = tc_new_n(&ctx->scratch, tc_fb_ref, vgf->n_module);
    for (size_t i = 0; i < vgf->n_module; i++) {
        const tc_vgf_module *m = &vgf->module[i];
        tc_fb_ref code = put_code(&w, m), entry = put_text(&w, m->entry_point),
                  name = put_text(&w, m->name);
        ti_fb_begin(&w);
        ti_fb_set_u8(&w, MODULE_TYPE, m->type, missing);
        ti_fb_set_ref(&w, MODULE_NAME, name);
        ti_fb_set_ref(&w, MODULE_ENTRY, entry);
        ti_fb_set_u8(&w, MODULE_CODE_TYPE, m->code_type, missing);
        ti_fb_set_ref(&w, MODULE_CODE, code);
        ref[i] = ti_fb_end(&w);
    }
    tc_fb_ref list = ti_fb_put_refs(&w, ref, vgf->n_module);
    ti_fb_begin(&w);
    ti_fb_set_ref(&w, 0, list);
    return ti_fb_finish(&w, ti_fb_end(&w), NULL);
}

static tc_fb_ref put_slots(tc_ctx *ctx, tc_fb_writer *w, const tc_vgf_slots *slots)
{
    tc_fb_ref *ref = tc_new_n(&ctx->scratch, tc_fb_ref, slots->n);
    for (size_t i = 0; i < slots->n; i++) {
        ti_fb_begin(w);
        ti_fb_set_u32(w, SLOT_BINDING, slots->v[i].binding, 0);
        ti_fb_set_u32(w, SLOT_RESOURCE, slots->v[i].resource, 0);
        ref[i] = ti_fb_end(w);
    }
    return ti_fb_put_refs(w, ref, slots->n);
}

static tc_fb_ref put_sets(tc_ctx *ctx, tc_fb_writer *w, const tc_vgf_segment *s)
{
    tc_fb_ref *ref = tc_new_n(&ctx->scratch, tc_fb_ref, s->n_set);
    for (size_t i = 0; i < s->n_set; i++) {
        tc_fb_ref slots = put_slots(ctx, w, &s->set[i]);
        ti_fb_begin(w);
        ti_fb_set_ref(w, 0, slots);
        ref[i] = ti_fb_end(w);
    }
    return ti_fb_put_refs(w, ref, s->n_set);
}

static tc_fb_ref put_segment(tc_ctx *ctx, tc_fb_writer *w, const tc_vgf_segment *s)
{
    tc_fb_ref push = ti_fb_put_refs(w, NULL, 0);
    tc_fb_ref dispatch = put_u32s(w, &ctx->scratch, s->dispatch, TC_COUNT(s->dispatch));
    tc_fb_ref constants = put_u32s(w, &ctx->scratch, s->constant, s->n_constant);
    tc_fb_ref out = put_slots(ctx, w, &s->out), in = put_slots(ctx, w, &s->in);
    tc_fb_ref sets = put_sets(ctx, w, s), name = put_text(w, s->name);
    ti_fb_begin(w);
    ti_fb_set_u8(w, SEGMENT_TYPE, s->type, UINT8_MAX);
    ti_fb_set_ref(w, SEGMENT_NAME, name);
    ti_fb_set_u32(w, SEGMENT_MODULE, s->module, 0);
    ti_fb_set_ref(w, SEGMENT_SETS, sets);
    ti_fb_set_ref(w, SEGMENT_IN, in);
    ti_fb_set_ref(w, SEGMENT_OUT, out);
    ti_fb_set_ref(w, SEGMENT_CONSTANTS, constants);
    ti_fb_set_ref(w, SEGMENT_DISPATCH, dispatch);
    ti_fb_set_ref(w, SEGMENT_PUSH_CONSTANTS, push);
    return ti_fb_end(w);
}

static tc_fb_ref put_names(tc_ctx *ctx, tc_fb_writer *w, const char *const *name, size_t n)
{
    tc_fb_ref *ref = tc_new_n(&ctx->scratch, tc_fb_ref, n);
    for (size_t i = 0; i < n; i++)
        ref[i] = put_text(w, name[i]);
    return ti_fb_put_refs(w, ref, n);
}

static tc_bytes sequence_section(tc_ctx *ctx, const tc_vgf *vgf)
{
    tc_fb_writer w;
    ti_fb_write(&w, &ctx->arena, 4096);
    tc_fb_ref *ref = tc_new_n(&ctx->scratch, tc_fb_ref, vgf->n_segment);
    for (size_t i = 0; i < vgf->n_segment; i++)
        ref[i] = put_segment(ctx, &w, &vgf->segment[i]);
    tc_fb_ref segments = ti_fb_put_refs(&w, ref, vgf->n_segment);
    tc_fb_ref in = put_slots(ctx, &w, &vgf->in), out = put_slots(ctx, &w, &vgf->out);
    tc_fb_ref in_names = put_names(ctx, &w, vgf->in_name, vgf->n_in_name);
    tc_fb_ref out_names = put_names(ctx, &w, vgf->out_name, vgf->n_out_name);
    ti_fb_begin(&w);
    ti_fb_set_ref(&w, SEQUENCE_SEGMENTS, segments);
    ti_fb_set_ref(&w, SEQUENCE_IN, in);
    ti_fb_set_ref(&w, SEQUENCE_OUT, out);
    ti_fb_set_ref(&w, SEQUENCE_IN_NAMES, in_names);
    ti_fb_set_ref(&w, SEQUENCE_OUT_NAMES, out_names);
    return ti_fb_finish(&w, ti_fb_end(&w), NULL);
}

/* Resources of one shape share its description. */
static tc_fb_ref put_description(tc_fb_writer *w, tc_map *known, const tc_vgf_resource *r)
{
    void **slot = ti_map_at(known, (tc_str){(const char *)r->dim, r->n_dim * sizeof *r->dim});
    if (*slot)
        return (tc_fb_ref)(uintptr_t)*slot;
    tc_fb_ref strides = ti_fb_put_u64s(w, NULL, 0);
    tc_fb_ref shape = ti_fb_put_u64s(w, (const uint64_t *)r->dim, r->n_dim);
    ti_fb_begin(w);
    ti_fb_set_ref(w, DESCRIPTION_SHAPE, shape);
    ti_fb_set_ref(w, DESCRIPTION_STRIDES, strides);
    tc_fb_ref description = ti_fb_end(w);
    *slot = (void *)(uintptr_t)description;
    return description;
}

static tc_fb_ref put_resource(tc_fb_writer *w, tc_map *known, const tc_vgf_resource *r)
{
    tc_fb_ref description = put_description(w, known, r);
    ti_fb_begin(w);
    ti_fb_set_u32(w, RESOURCE_DESCRIPTOR, r->descriptor, 0);
    ti_fb_set_u32(w, RESOURCE_FORMAT, r->format, 0);
    ti_fb_set_u8(w, RESOURCE_CATEGORY, r->category, UINT8_MAX);
    ti_fb_set_ref(w, RESOURCE_DESCRIPTION, description);
    return ti_fb_end(w);
}

static tc_bytes resource_section(tc_ctx *ctx, const tc_vgf *vgf)
{
    tc_fb_writer w;
    tc_map known;
    ti_map_init(&known, &ctx->scratch);
    ti_fb_write(&w, &ctx->arena, 4096);
    tc_fb_ref *ref = tc_new_n(&ctx->scratch, tc_fb_ref, vgf->n_resource);
    for (size_t i = 0; i < vgf->n_resource; i++)
        ref[i] = put_resource(&w, &known, &vgf->resource[i]);
    tc_fb_ref list = ti_fb_put_refs(&w, ref, vgf->n_resource);
    ti_fb_begin(&w);
    ti_fb_set_ref(&w, 0, list);
    return ti_fb_finish(&w, ti_fb_end(&w), NULL);
}

/* The table in front of the constants; the constants themselves follow in the file. */
static tc_bytes constant_head(tc_ctx *ctx, const tc_vgf *vgf, size_t *payload)
{
    tc_buf head;
    size_t at = 0;
    ti_buf_init(&head, &ctx->arena);
    ti_buf_put(&head, constant_magic, sizeof constant_magic);
    ti_buf_u64(&head, vgf->n_constant);
    for (size_t i = 0; i < vgf->n_constant; i++) {
        const tc_vgf_constant *c = &vgf->constant[i];
        ti_buf_u32(&head, c->resource);
        ti_buf_u32(&head, (uint32_t)c->sparsity);
        ti_buf_u64(&head, c->data.size);
        ti_buf_u64(&head, at);
        at += aligned(c->data.size);
    }
    *payload = at;
    return (tc_bytes){head.data, head.size};
}

static tc_bytes join(tc_ctx *ctx, const tc_vgf *vgf, const tc_bytes *section, size_t payload)
{
    tc_buf file;
    size_t size = HEADER + payload;
    for (int i = 0; i < SECTIONS; i++)
        size += aligned(section[i].size);
    ti_buf_init(&file, &ctx->arena);
    ti_buf_room(&file, size); /* so that the constants are copied once */
    file.size = 0;
    ti_buf_put(&file, magic, sizeof magic);
    ti_buf_u32(&file, 0);
    ti_buf_put(&file, vgf->version, sizeof vgf->version);
    ti_buf_align(&file, SECTIONS_AT);
    size_t at = HEADER;
    for (int i = 0; i < SECTIONS; i++) {
        ti_buf_u64(&file, at);
        ti_buf_u64(&file, section[i].size + (i == SECTION_CONSTANT ? payload : 0));
        at += aligned(section[i].size);
    }
    ti_buf_zeros(&file, HEADER - file.size);
    for (int i = 0; i < SECTIONS; i++) {
        ti_buf_put(&file, section[i].data, section[i].size);
        ti_buf_align(&file, ALIGN);
    }
    for (size_t i = 0; i < vgf->n_constant; i++) {
        ti_buf_put(&file, vgf->constant[i].data.data, vgf->constant[i].data.size);
        ti_buf_align(&file, ALIGN);
    }
    return (tc_bytes){file.data, file.size};
}

tc_status ti_vgf_write(tc_ctx *ctx, const char *file, const tc_vgf *vgf, tc_bytes *out)
{
    size_t payload;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_bytes section[SECTIONS] = {module_section(ctx, vgf), sequence_section(ctx, vgf),
                                  resource_section(ctx, vgf), constant_head(ctx, vgf, &payload)};
    ti_arena_rewind(&ctx->scratch, mark);
    for (int i = 0; i < SECTIONS; i++)
        if (!section[i].data)
            return ti_error(ctx, &(tc_loc){.file = file}, TC_E_TOO_LARGE,
                            "a section would be larger than 2 GiB, the most that a flatbuffer "
                            "can hold");
    *out = join(ctx, vgf, section, payload);
    return TC_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct {
    tc_ctx *ctx;
    const char *file;
    tc_bytes bytes;
    tc_vgf *vgf;
    tc_fb fb;       /* the section at hand */
    size_t section; /* and where it begins */
} reader;

static tc_status bad(reader *r, size_t at, tc_diag_id id, const char *what)
{
    const char *place = ti_text_format(&r->ctx->arena, "byte %zu", at);
    return ti_error(r->ctx, &(tc_loc){.file = r->file, .place = place}, id, "%s", what);
}

/* A broken flatbuffer becomes a message. */
static tc_status broken(reader *r)
{
    return r->fb.error ? bad(r, r->section + r->fb.error_at, TC_E_FORMAT, r->fb.error) : TC_OK;
}

static tc_status section_bytes(reader *r, int i, tc_bytes *out)
{
    size_t at = SECTIONS_AT + 16 * (size_t)i;
    uint64_t offset = ti_le64(r->bytes.data + at), size = ti_le64(r->bytes.data + at + 8);
    if (offset > r->bytes.size || size > r->bytes.size - offset)
        return bad(r, at, TC_E_TRUNCATED, "a section runs past the end of the file");
    if (offset < HEADER || offset % 4)
        return bad(r, at, TC_E_FORMAT, "a section begins in the header, or is not aligned to 4 "
                                       "bytes");
    r->section = (size_t)offset;
    *out = (tc_bytes){r->bytes.data + offset, (size_t)size};
    return TC_OK;
}

static tc_status open_section(reader *r, int i, tc_fb_table *root)
{
    tc_bytes bytes;
    TC_TRY(section_bytes(r, i, &bytes));
    ti_fb_init(&r->fb, bytes, NULL);
    *root = ti_fb_root(&r->fb);
    return broken(r);
}

static const char *text_of(reader *r, tc_str text)
{
    return ti_intern(r->ctx, text);
}

static tc_status read_modules(reader *r)
{
    tc_fb_table root;
    tc_vgf *vgf = r->vgf;
    TC_TRY(open_section(r, SECTION_MODULE, &root));
    tc_fb_vector list = ti_fb_list(root, 0, 4);
    vgf->n_module = list.n;
    vgf->module = tc_new_n(&r->ctx->arena, tc_vgf_module, list.n);
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table t = ti_fb_list_table(list, i);
        tc_vgf_module *m = &vgf->module[i];
        m->type = ti_fb_u8(t, MODULE_TYPE, 0);
        m->name = text_of(r, ti_fb_string(t, MODULE_NAME));
        m->entry_point = text_of(r, ti_fb_string(t, MODULE_ENTRY));
        m->code_type = ti_fb_u8(t, MODULE_CODE_TYPE, 0);
        tc_fb_vector words = {0};
        if (m->code_type == TC_VGF_SPIRV)
            words = ti_fb_list(ti_fb_child(t, MODULE_CODE), 0, 4);
        m->code = (tc_bytes){r->fb.data + words.at, 4 * words.n};
        TC_TRY(broken(r));
    }
    return broken(r);
}

static tc_status read_resources(reader *r)
{
    tc_fb_table root;
    tc_vgf *vgf = r->vgf;
    TC_TRY(open_section(r, SECTION_RESOURCE, &root));
    tc_fb_vector list = ti_fb_list(root, 0, 4);
    vgf->n_resource = list.n;
    vgf->resource = tc_new_n(&r->ctx->arena, tc_vgf_resource, list.n);
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table t = ti_fb_list_table(list, i);
        tc_fb_vector shape = ti_fb_list(ti_fb_child(t, RESOURCE_DESCRIPTION), DESCRIPTION_SHAPE, 8);
        int64_t *dim = tc_new_n(&r->ctx->arena, int64_t, shape.n);
        for (size_t k = 0; k < shape.n; k++)
            dim[k] = (int64_t)ti_fb_list_u64(shape, k);
        vgf->resource[i] = (tc_vgf_resource){
            .descriptor = ti_fb_u32(t, RESOURCE_DESCRIPTOR, 0),
            .format = ti_fb_u32(t, RESOURCE_FORMAT, 0),
            .category = ti_fb_u8(t, RESOURCE_CATEGORY, 0),
            .dim = dim,
            .n_dim = shape.n,
        };
        TC_TRY(broken(r));
    }
    return broken(r);
}

static tc_status read_slots(reader *r, tc_fb_table t, uint32_t field, tc_vgf_slots *out)
{
    tc_fb_vector list = ti_fb_list(t, field, 4);
    *out = (tc_vgf_slots){tc_new_n(&r->ctx->arena, tc_vgf_slot, list.n), list.n};
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table slot = ti_fb_list_table(list, i);
        out->v[i] =
            (tc_vgf_slot){ti_fb_u32(slot, SLOT_BINDING, 0), ti_fb_u32(slot, SLOT_RESOURCE, 0)};
        TC_TRY(broken(r));
        if (out->v[i].resource >= r->vgf->n_resource)
            return bad(r, r->section + slot.at, TC_E_FORMAT,
                       "a binding names a resource that does not exist");
    }
    return broken(r);
}

/* Until 0.5.0 a graph constant's number is its index; from then on the file says which is which. */
static tc_status read_constant_ids(reader *r, tc_fb_table t, tc_vgf_segment *s)
{
    tc_fb_vector plain = ti_fb_list(t, SEGMENT_CONSTANTS, 4),
                 bound = ti_fb_list(t, SEGMENT_CONSTANT_BINDINGS, 4);
    s->n_constant = bound.n ? bound.n : plain.n;
    s->constant = tc_new_n(&r->ctx->arena, uint32_t, s->n_constant);
    s->constant_id = tc_new_n(&r->ctx->arena, uint32_t, s->n_constant);
    for (size_t i = 0; i < s->n_constant; i++) {
        if (bound.n) {
            tc_fb_table pair = ti_fb_list_table(bound, i);
            s->constant_id[i] = ti_fb_u32(pair, 0, 0);
            s->constant[i] = ti_fb_u32(pair, 1, 0);
        } else
            s->constant_id[i] = s->constant[i] = (uint32_t)ti_fb_list_i32(plain, i);
        TC_TRY(broken(r));
        if (s->constant[i] >= r->vgf->n_constant)
            return bad(r, r->section + t.at, TC_E_FORMAT,
                       "a segment names a constant that does not exist");
    }
    return broken(r);
}

static tc_status read_segment(reader *r, tc_fb_table t, tc_vgf_segment *s)
{
    s->type = ti_fb_u8(t, SEGMENT_TYPE, 0);
    s->name = text_of(r, ti_fb_string(t, SEGMENT_NAME));
    s->module = ti_fb_u32(t, SEGMENT_MODULE, 0);
    TC_TRY(broken(r));
    if (s->module >= r->vgf->n_module)
        return bad(r, r->section + t.at, TC_E_FORMAT, "a segment names a module that does not "
                                                      "exist");
    tc_fb_vector sets = ti_fb_list(t, SEGMENT_SETS, 4),
                 dispatch = ti_fb_list(t, SEGMENT_DISPATCH, 4);
    s->n_set = sets.n;
    s->set = tc_new_n(&r->ctx->arena, tc_vgf_slots, sets.n);
    for (size_t i = 0; i < sets.n; i++)
        TC_TRY(read_slots(r, ti_fb_list_table(sets, i), 0, &s->set[i]));
    TC_TRY(read_slots(r, t, SEGMENT_IN, &s->in));
    TC_TRY(read_slots(r, t, SEGMENT_OUT, &s->out));
    for (size_t i = 0; i < dispatch.n && i < TC_COUNT(s->dispatch); i++)
        s->dispatch[i] = (uint32_t)ti_fb_list_i32(dispatch, i);
    return read_constant_ids(r, t, s);
}

static tc_status read_names(reader *r, tc_fb_table t, uint32_t field, const char ***name, size_t *n)
{
    tc_fb_vector list = ti_fb_list(t, field, 4);
    *n = list.n;
    *name = tc_new_n(&r->ctx->arena, const char *, list.n);
    for (size_t i = 0; i < list.n; i++)
        (*name)[i] = text_of(r, ti_fb_list_string(list, i));
    return broken(r);
}

static tc_status read_sequence(reader *r)
{
    tc_fb_table root;
    tc_vgf *vgf = r->vgf;
    TC_TRY(open_section(r, SECTION_SEQUENCE, &root));
    tc_fb_vector list = ti_fb_list(root, SEQUENCE_SEGMENTS, 4);
    vgf->n_segment = list.n;
    vgf->segment = tc_new_n(&r->ctx->arena, tc_vgf_segment, list.n);
    for (size_t i = 0; i < list.n; i++)
        TC_TRY(read_segment(r, ti_fb_list_table(list, i), &vgf->segment[i]));
    TC_TRY(read_slots(r, root, SEQUENCE_IN, &vgf->in));
    TC_TRY(read_slots(r, root, SEQUENCE_OUT, &vgf->out));
    TC_TRY(read_names(r, root, SEQUENCE_IN_NAMES, &vgf->in_name, &vgf->n_in_name));
    return read_names(r, root, SEQUENCE_OUT_NAMES, &vgf->out_name, &vgf->n_out_name);
}

static tc_status read_constants(reader *r)
{
    tc_bytes s;
    tc_vgf *vgf = r->vgf;
    TC_TRY(section_bytes(r, SECTION_CONSTANT, &s));
    if (!s.size)
        return TC_OK;
    if (s.size < CONSTANT_HEAD || memcmp(s.data, constant_magic, sizeof constant_magic) != 0)
        return bad(r, r->section, TC_E_FORMAT, "the constants do not begin with CONST00");
    uint64_t n = ti_le64(s.data + 8);
    if (n > (s.size - CONSTANT_HEAD) / CONSTANT_ROW)
        return bad(r, r->section, TC_E_TRUNCATED, "the table of constants runs past its section");
    size_t payload = CONSTANT_HEAD + CONSTANT_ROW * (size_t)n;
    vgf->n_constant = (size_t)n;
    vgf->constant = tc_new_n(&r->ctx->arena, tc_vgf_constant, vgf->n_constant);
    for (size_t i = 0; i < vgf->n_constant; i++) {
        const uint8_t *row = s.data + CONSTANT_HEAD + CONSTANT_ROW * i;
        uint32_t resource = ti_le32(row);
        uint64_t size = ti_le64(row + 8), offset = ti_le64(row + 16);
        if (offset > s.size - payload || size > s.size - payload - offset)
            return bad(r, r->section + payload, TC_E_TRUNCATED, "a constant runs past its section");
        if (resource >= vgf->n_resource)
            return bad(r, r->section, TC_E_FORMAT, "a constant names a resource that does not "
                                                   "exist");
        vgf->constant[i] = (tc_vgf_constant){
            resource, (int32_t)ti_le32(row + 4), {s.data + payload + offset, (size_t)size}};
    }
    return TC_OK;
}

tc_status ti_vgf_read(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_vgf *out)
{
    enum { MAJOR = 0, MOST_MINOR = 5 };
    reader r = {.ctx = ctx, .file = file, .bytes = bytes, .vgf = out};
    *out = (tc_vgf){.n_module = 0};
    if (bytes.size < HEADER || memcmp(bytes.data, magic, sizeof magic) != 0)
        return bad(&r, 0, TC_E_FORMAT, "this is not a VGF file, or only the beginning of one");
    memcpy(out->version, bytes.data + 8, sizeof out->version);
    if (out->version[0] != MAJOR || out->version[1] > MOST_MINOR)
        return ti_unsupported(ctx, &(tc_loc){.file = file}, TC_E_VERSION,
                              "the file is of VGF %d.%d.%d; up to %d.%d is supported",
                              out->version[0], out->version[1], out->version[2], MAJOR, MOST_MINOR);
    TC_TRY(read_modules(&r));
    TC_TRY(read_resources(&r));
    TC_TRY(read_constants(&r));
    return read_sequence(&r);
}
