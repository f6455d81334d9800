/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_write.c -- a VGF container from its records; see vgf.h. */
#include "vgf.h"

#include "flatbuf.h"
#include "vgf_fields.h"

static size_t aligned(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

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
    if (m->code_type == TC_VGF_NO_CODE)
        return 0;
    tc_str text = {(const char *)m->code.data, m->code.size};
    tc_fb_ref code = m->code_type == TC_VGF_SPIRV ? ti_fb_put_words(w, m->code)
                                                  : ti_fb_put_string(w, text);
    ti_fb_begin(w);
    ti_fb_set_ref(w, 0, code);
    return ti_fb_end(w);
}

static tc_bytes module_section(tc_ctx *ctx, const tc_vgf *vgf)
{
    const uint8_t missing = UINT8_MAX; /* values are written, zeros too */
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
        ti_fb_set_u8(&w, MODULE_CODE_TYPE, m->code_type, m->code_type ? missing : 0);
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
        tc_fb_ref slots = put_slots(ctx, w, &s->set[i].slots);
        ti_fb_begin(w);
        ti_fb_set_ref(w, SET_SLOTS, slots);
        ti_fb_set_u32(w, SET_INDEX, s->set[i].index, TC_VGF_SET_BY_PLACE);
        ref[i] = ti_fb_end(w);
    }
    return ti_fb_put_refs(w, ref, s->n_set);
}

static tc_fb_ref put_pushes(tc_ctx *ctx, tc_fb_writer *w, const tc_vgf_segment *s)
{
    tc_fb_ref *ref = tc_new_n(&ctx->scratch, tc_fb_ref, s->n_push);
    for (size_t i = 0; i < s->n_push; i++) {
        ti_fb_begin(w);
        ti_fb_set_u32(w, PUSH_STAGES, s->push[i].stages, 0);
        ti_fb_set_u32(w, PUSH_OFFSET, s->push[i].offset, 0);
        ti_fb_set_u32(w, PUSH_SIZE, s->push[i].size, 0);
        ref[i] = ti_fb_end(w);
    }
    return ti_fb_put_refs(w, ref, s->n_push);
}

/* Some graph constant has an id that is not its index in the table. */
static bool has_numbers(const tc_vgf_segment *s)
{
    for (size_t i = 0; s->constant_id && i < s->n_constant; i++)
        if (s->constant_id[i] != s->constant[i])
            return true;
    return false;
}

static tc_fb_ref put_numbers(tc_ctx *ctx, tc_fb_writer *w, const tc_vgf_segment *s)
{
    tc_fb_ref *ref = tc_new_n(&ctx->scratch, tc_fb_ref, s->n_constant);
    if (!has_numbers(s))
        return 0;
    for (size_t i = 0; i < s->n_constant; i++) {
        ti_fb_begin(w);
        ti_fb_set_u32(w, 0, s->constant_id[i], 0);
        ti_fb_set_u32(w, 1, s->constant[i], 0);
        ref[i] = ti_fb_end(w);
    }
    return ti_fb_put_refs(w, ref, s->n_constant);
}

static tc_fb_ref put_segment(tc_ctx *ctx, tc_fb_writer *w, const tc_vgf_segment *s)
{
    tc_fb_ref numbers = put_numbers(ctx, w, s), push = put_pushes(ctx, w, s);
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
    ti_fb_set_ref(w, SEGMENT_CONSTANT_BINDINGS, numbers);
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
    if (*slot && !r->n_stride)
        return (tc_fb_ref)(uintptr_t)*slot;
    tc_fb_ref strides = ti_fb_put_u64s(w, (const uint64_t *)r->stride, r->n_stride);
    tc_fb_ref shape = ti_fb_put_u64s(w, (const uint64_t *)r->dim, r->n_dim);
    ti_fb_begin(w);
    ti_fb_set_ref(w, DESCRIPTION_SHAPE, shape);
    ti_fb_set_ref(w, DESCRIPTION_STRIDES, strides);
    tc_fb_ref description = ti_fb_end(w);
    if (!r->n_stride)
        *slot = (void *)(uintptr_t)description;
    return description;
}

static tc_fb_ref put_sampler(tc_fb_writer *w, const tc_vgf_sampler *s)
{
    if (!s)
        return 0;
    ti_fb_begin(w);
    ti_fb_set_u32(w, SAMPLER_MIN, s->min_filter, 0);
    ti_fb_set_u32(w, SAMPLER_MAG, s->mag_filter, 0);
    ti_fb_set_u32(w, SAMPLER_U, s->address_u, 0);
    ti_fb_set_u32(w, SAMPLER_V, s->address_v, 0);
    ti_fb_set_u32(w, SAMPLER_BORDER, s->border, 0);
    return ti_fb_end(w);
}

static tc_fb_ref put_resource(tc_fb_writer *w, tc_map *known, const tc_vgf_resource *r)
{
    tc_fb_ref sampler = put_sampler(w, r->sampler), description = put_description(w, known, r);
    ti_fb_begin(w);
    ti_fb_set_u32(w, RESOURCE_DESCRIPTOR, r->descriptor, 0);
    ti_fb_set_u32(w, RESOURCE_FORMAT, r->format, 0);
    ti_fb_set_u8(w, RESOURCE_CATEGORY, r->category, UINT8_MAX);
    ti_fb_set_ref(w, RESOURCE_DESCRIPTION, description);
    ti_fb_set_u8(w, RESOURCE_EXTRA_TYPE, sampler ? EXTRA_SAMPLER : 0, 0);
    ti_fb_set_ref(w, RESOURCE_EXTRA, sampler);
    ti_fb_set_u32(w, RESOURCE_ALIAS, r->aliases ? r->alias : UINT32_MAX, UINT32_MAX);
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
    ti_buf_put(&head, TC_VGF_CONSTANT_MAGIC, CONSTANT_MAGIC_BYTES);
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

/* The least format with all features of the file: 0.4.3 has sets, aliases and samplers, 0.5.0 ids
 * of constants. */
static uint8_t needed(const tc_vgf *vgf, uint8_t *patch)
{
    uint8_t minor = vgf->version[1];
    *patch = vgf->version[2];
    bool named = false;
    for (size_t i = 0; i < vgf->n_resource; i++)
        named |= vgf->resource[i].aliases || vgf->resource[i].sampler;
    for (size_t i = 0; i < vgf->n_segment; i++)
        for (size_t k = 0; k < vgf->segment[i].n_set; k++)
            named |= vgf->segment[i].set[k].index != TC_VGF_SET_BY_PLACE;
    if (named && minor == 4 && *patch < 3)
        *patch = 3;
    for (size_t i = 0; i < vgf->n_segment; i++)
        if (has_numbers(&vgf->segment[i]) && minor < 5)
            minor = 5, *patch = 0;
    return minor;
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
    ti_buf_put(&file, TC_VGF_MAGIC, MAGIC_BYTES);
    ti_buf_u32(&file, 0);
    uint8_t patch, minor = needed(vgf, &patch);
    ti_buf_put(&file, (uint8_t[]){vgf->version[0], minor, patch}, sizeof vgf->version);
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
