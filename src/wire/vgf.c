/* SPDX-License-Identifier: Apache-2.0 */
/* vgf.c -- a VGF container into its records; see vgf.h. */
#include "vgf.h"

#include "flatbuf.h"
#include "vgf_fields.h"

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

static tc_bytes code_of(reader *r, uint8_t type, tc_fb_table code)
{
    if (type == TC_VGF_GLSL || type == TC_VGF_HLSL) {
        tc_str text = ti_fb_string(code, 0);
        return (tc_bytes){(const uint8_t *)text.p, text.n};
    }
    tc_fb_vector words = {0};
    if (type == TC_VGF_SPIRV)
        words = ti_fb_list(code, 0, 4);
    return (tc_bytes){r->fb.data + words.at, 4 * words.n};
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
        m->code = code_of(r, m->code_type, ti_fb_child(t, MODULE_CODE));
        TC_TRY(broken(r));
    }
    return broken(r);
}

static const int64_t *read_i64s(reader *r, tc_fb_table t, uint32_t field, size_t *n)
{
    tc_fb_vector list = ti_fb_list(t, field, 8);
    int64_t *v = tc_new_n(&r->ctx->arena, int64_t, list.n);
    for (size_t i = 0; i < list.n; i++)
        v[i] = (int64_t)ti_fb_list_u64(list, i);
    *n = list.n;
    return v;
}

static const tc_vgf_sampler *read_sampler(reader *r, tc_fb_table t)
{
    if (ti_fb_u8(t, RESOURCE_EXTRA_TYPE, 0) != EXTRA_SAMPLER)
        return NULL;
    tc_fb_table extra = ti_fb_child(t, RESOURCE_EXTRA);
    tc_vgf_sampler *s = tc_new(&r->ctx->arena, tc_vgf_sampler);
    s->min_filter = ti_fb_u32(extra, SAMPLER_MIN, 0);
    s->mag_filter = ti_fb_u32(extra, SAMPLER_MAG, 0);
    s->address_u = ti_fb_u32(extra, SAMPLER_U, 0);
    s->address_v = ti_fb_u32(extra, SAMPLER_V, 0);
    s->border = ti_fb_u32(extra, SAMPLER_BORDER, 0);
    return s;
}

static void read_resource(reader *r, tc_fb_table t, tc_vgf_resource *out)
{
    tc_fb_table description = ti_fb_child(t, RESOURCE_DESCRIPTION);
    out->descriptor = ti_fb_u32(t, RESOURCE_DESCRIPTOR, 0);
    out->format = ti_fb_u32(t, RESOURCE_FORMAT, 0);
    out->category = ti_fb_u8(t, RESOURCE_CATEGORY, 0);
    out->dim = read_i64s(r, description, DESCRIPTION_SHAPE, &out->n_dim);
    out->stride = read_i64s(r, description, DESCRIPTION_STRIDES, &out->n_stride);
    out->sampler = read_sampler(r, t);
    out->alias = ti_fb_u32(t, RESOURCE_ALIAS, UINT32_MAX);
    out->aliases = out->alias != UINT32_MAX;
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
        read_resource(r, ti_fb_list_table(list, i), &vgf->resource[i]);
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

/* Until 0.5.0 a graph constant's id is its index; from then on the file has a table. */
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

static tc_status read_sets(reader *r, tc_fb_table t, tc_vgf_segment *s)
{
    tc_fb_vector list = ti_fb_list(t, SEGMENT_SETS, 4);
    s->n_set = list.n;
    s->set = tc_new_n(&r->ctx->arena, tc_vgf_set, list.n);
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table set = ti_fb_list_table(list, i);
        s->set[i].index = ti_fb_u32(set, SET_INDEX, TC_VGF_SET_BY_PLACE);
        if (s->set[i].index == TC_VGF_SET_BY_PLACE)
            s->set[i].index = (uint32_t)i;
        TC_TRY(read_slots(r, set, SET_SLOTS, &s->set[i].slots));
    }
    return broken(r);
}

static void read_pushes(reader *r, tc_fb_table t, tc_vgf_segment *s)
{
    tc_fb_vector list = ti_fb_list(t, SEGMENT_PUSH_CONSTANTS, 4);
    s->n_push = list.n;
    s->push = tc_new_n(&r->ctx->arena, tc_vgf_push, list.n);
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table push = ti_fb_list_table(list, i);
        s->push[i] = (tc_vgf_push){ti_fb_u32(push, PUSH_STAGES, 0), ti_fb_u32(push, PUSH_OFFSET, 0),
                                   ti_fb_u32(push, PUSH_SIZE, 0)};
    }
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
    TC_TRY(read_sets(r, t, s));
    TC_TRY(read_slots(r, t, SEGMENT_IN, &s->in));
    TC_TRY(read_slots(r, t, SEGMENT_OUT, &s->out));
    tc_fb_vector dispatch = ti_fb_list(t, SEGMENT_DISPATCH, 4);
    for (size_t i = 0; i < dispatch.n && i < TC_COUNT(s->dispatch); i++)
        s->dispatch[i] = (uint32_t)ti_fb_list_i32(dispatch, i);
    read_pushes(r, t, s);
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

/* Until format 0.3: a flatbuffer with the bytes of each constant in a list. */
static tc_status read_old_constants(reader *r)
{
    tc_fb_table root;
    tc_vgf *vgf = r->vgf;
    TC_TRY(open_section(r, SECTION_CONSTANT, &root));
    tc_fb_vector list = ti_fb_list(root, 0, 4);
    vgf->n_constant = list.n;
    vgf->constant = tc_new_n(&r->ctx->arena, tc_vgf_constant, list.n);
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table t = ti_fb_list_table(list, i);
        tc_fb_vector raw = ti_fb_list(t, OLD_CONSTANT_RAW, 1);
        uint32_t resource = ti_fb_u32(t, OLD_CONSTANT_RESOURCE, 0);
        int64_t sparsity = ti_fb_i64(t, OLD_CONSTANT_SPARSITY, 0);
        TC_TRY(broken(r));
        if (resource >= vgf->n_resource || sparsity < -1 || sparsity > INT32_MAX)
            return bad(r, r->section, TC_E_FORMAT,
                       "a constant names a resource that does not exist, or an impossible sparse "
                       "dimension");
        vgf->constant[i] =
            (tc_vgf_constant){resource, (int32_t)sparsity, {r->fb.data + raw.at, raw.n}};
    }
    return broken(r);
}

static tc_status read_constants(reader *r)
{
    tc_bytes s;
    tc_vgf *vgf = r->vgf;
    TC_TRY(section_bytes(r, SECTION_CONSTANT, &s));
    if (!s.size)
        return TC_OK;
    bool raw = s.size >= CONSTANT_HEAD &&
               memcmp(s.data, TC_VGF_CONSTANT_MAGIC, CONSTANT_MAGIC_BYTES) == 0;
    if (!raw && vgf->version[1] <= LAST_OLD_MINOR)
        return read_old_constants(r);
    if (!raw)
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
    if (bytes.size < HEADER || memcmp(bytes.data, TC_VGF_MAGIC, MAGIC_BYTES) != 0)
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
