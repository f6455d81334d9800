/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_copy.c -- a table of options of one file, in another.
 *
 * A table does not record the width of its fields.  Each is copied up to the next one, as far as
 * its offset is aligned: a reader of fewer bytes reads the same. */
#include "tflite_file.h"

/* Options that refer to lists of elements of so many bytes, or to text. */
enum { TEXT = 0, SECOND = TC_TFW_SECOND };
static const struct {
    int tag;
    uint32_t fields; /* a bit for each */
    size_t element;
} refs[] = {
    {17, 1, 4},                /* RESHAPE: new_shape */
    {30, 1, 4},                /* SQUEEZE: squeeze_dims */
    {111, 3, TEXT},            /* VAR_HANDLE: container, shared_name */
    {SECOND | 2, 1, 8},        /* STABLEHLO_BROADCAST_IN_DIM */
    {SECOND | 3, 7, 8},        /* STABLEHLO_SLICE */
    {SECOND | 4, 0x248f, 8},   /* STABLEHLO_CONVOLUTION: strides, padding, dilations, axes */
    {SECOND | 4, 1 << 4, 1},   /* window_reversal */
    {SECOND | 4, 1 << 16, 4},  /* precision_config */
    {SECOND | 9, 1, 8},        /* STABLEHLO_DYNAMIC_SLICE */
    {SECOND | 10, 7, 8},       /* STABLEHLO_PAD */
    {SECOND | 12, 15, 8},      /* STABLEHLO_DOT_GENERAL */
    {SECOND | 12, 1 << 4, 4},  /* precision_config */
    {SECOND | 16, 0x17, 8},    /* STABLEHLO_GATHER */
    {SECOND | 17, 1, 8},       /* STABLEHLO_TRANSPOSE */
};

bool ti_tfw_names_graph(int tag)
{
    static const int of[] = {5, 6, 7, 13, 14, 15, 21, 23};
    for (size_t i = 0; i < TC_COUNT(of); i++)
        if (tag == (SECOND | of[i]))
            return true;
    return false;
}

static tc_fb_ref put_list(tc_fb_writer *w, tc_fb_table from, uint32_t field, size_t element)
{
    tc_fb_vector v = ti_fb_list(from, field, element);
    return ti_fb_put_list(w, v.n ? from.fb->data + v.at : NULL, v.n, element);
}

static tc_fb_ref put_ref(tc_fb_writer *w, int tag, tc_fb_table from, uint32_t field, bool *is_ref)
{
    for (size_t i = 0; i < TC_COUNT(refs); i++) {
        if (refs[i].tag != tag || !(refs[i].fields >> field & 1))
            continue;
        *is_ref = true;
        return refs[i].element ? put_list(w, from, field, refs[i].element)
                               : ti_fb_put_string(w, ti_fb_string(from, field));
    }
    *is_ref = false;
    return 0;
}

/* Offset of the field in the table; 0: absent. */
static size_t place_of(tc_fb_table t, uint32_t field)
{
    const uint8_t *p = t.fb->data + t.vtable + 4 + 2 * (size_t)field;
    return (size_t)(p[0] | p[1] << 8);
}

static size_t room_of(tc_fb_table t, uint32_t field)
{
    size_t at = place_of(t, field), end = t.bytes;
    for (uint32_t i = 0; i < t.n_field; i++)
        if (place_of(t, i) > at && place_of(t, i) < end)
            end = place_of(t, i);
    return end - at;
}

static void copy_field(tc_fb_writer *w, tc_fb_table t, uint32_t field)
{
    const uint8_t *p = t.fb->data + t.at + place_of(t, field);
    size_t room = room_of(t, field), at = t.at + place_of(t, field);
    if (room >= 8 && at % 8 == 0)
        ti_fb_set_u64(w, field, ti_le64(p), ~ti_le64(p));
    else if (room >= 4 && at % 4 == 0)
        ti_fb_set_u32(w, field, ti_le32(p), ~ti_le32(p));
    else
        ti_fb_set_u8(w, field, *p, (uint8_t)~*p);
}

tc_fb_ref ti_tfw_put_copy(tc_fb_writer *w, int tag, tc_fb_table from)
{
    tc_fb_ref ref[TC_FB_FIELDS] = {0};
    bool is_ref[TC_FB_FIELDS] = {false};
    uint32_t n = from.n_field < TC_FB_FIELDS ? from.n_field : TC_FB_FIELDS;
    for (uint32_t i = 0; i < n; i++)
        if (place_of(from, i))
            ref[i] = put_ref(w, tag, from, i, &is_ref[i]);
    ti_fb_begin(w);
    for (uint32_t i = 0; i < n; i++)
        if (is_ref[i])
            ti_fb_set_ref(w, i, ref[i]);
        else if (place_of(from, i))
            copy_field(w, from, i);
    return ti_fb_end(w);
}
