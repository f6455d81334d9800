/* SPDX-License-Identifier: Apache-2.0 */
/* read_ethosu.c -- the payload of an EthosUBackend: blocks of a name, a size and bytes. */
#include "read_pte.h"

enum { NAME = 16, HEAD = 32, ALIGN = 16, TENSOR = 36 }; /* bytes */

/* The next block; false at the end, or where it does not fit. */
static bool next_block(tc_bytes all, size_t *at, tc_str *name, tc_bytes *content)
{
    if (*at > all.size || all.size - *at < HEAD)
        return false;
    const uint8_t *p = all.data + *at;
    size_t size = ti_le32(p + NAME), room = all.size - *at - HEAD, length = 0;
    if (size > room)
        return false;
    while (length < NAME && p[length])
        length++;
    *name = (tc_str){(const char *)p, length};
    *content = (tc_bytes){p + HEAD, size};
    *at += HEAD + (size + ALIGN - 1) / ALIGN * ALIGN;
    return true;
}

static bool read_tensors(tc_arena *arena, tc_bytes block, tc_ethosu_tensor **out, size_t *n)
{
    if (block.size < 4 || (block.size - 4) / TENSOR < ti_le32(block.data))
        return false;
    *n = ti_le32(block.data);
    *out = tc_new_n(arena, tc_ethosu_tensor, *n);
    for (size_t i = 0; i < *n; i++) {
        int32_t v[TENSOR / 4];
        for (size_t k = 0; k < TC_COUNT(v); k++)
            v[k] = (int32_t)ti_le32(block.data + 4 + TENSOR * i + 4 * k);
        memcpy((*out)[i].dim, v, sizeof(*out)[i].dim);
        (*out)[i].element_bytes = v[6];
        (*out)[i].offset = v[7];
        (*out)[i].region = v[8];
    }
    return true;
}

bool ti_ethosu_read(tc_arena *arena, tc_bytes payload, tc_ethosu_payload *out)
{
    tc_str name;
    tc_bytes block;
    *out = (tc_ethosu_payload){0};
    bool first = true, sound = true;
    for (size_t at = 0; sound && next_block(payload, &at, &name, &block); first = false) {
        if (first)
            sound = ti_str_is(name, "vela_bin_stream");
        else if (ti_str_is(name, "cmd_data"))
            out->commands = block.size;
        else if (ti_str_is(name, "weight_data"))
            out->weights = block.size;
        else if (ti_str_is(name, "scratch_size") && block.size >= 4)
            out->scratch = ti_le32(block.data);
        else if (ti_str_is(name, "inputs"))
            sound = read_tensors(arena, block, &out->in, &out->n_in);
        else if (ti_str_is(name, "outputs"))
            sound = read_tensors(arena, block, &out->out, &out->n_out);
        else if (ti_str_is(name, "vela_end_stream"))
            return true;
    }
    return false;
}
