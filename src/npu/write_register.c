/* SPDX-License-Identifier: Apache-2.0 */
/* write_register.c -- registers as command words.  A value that does not fit its register is an
 * error; nothing is cut off. */
#include "writer.h"

#include "../base/text.h"

/* Registers of 16 bits begin at 256, those of two words are below. */
static uint8_t words_of(int code)
{
    return code >= 256 ? 1 : 2;
}

static const tc_npu_command_info *row_of(tc_npu_writer *w, int code)
{
    const tc_npu_command_info *info =
        ti_npu_command_find((uint32_t)code, words_of(code), w->machine->product);
    if (!info)
        ti_npu_cannot(w, ti_text_format(w->arena, "%s has no register %d", w->machine->name, code));
    return info;
}

void ti_npu_cannot(tc_npu_writer *w, const char *why)
{
    w->error = w->error ? w->error : why;
}

static void does_not_fit(tc_npu_writer *w, int code, int64_t value)
{
    const tc_npu_command_info *info = row_of(w, code);
    if (info && !w->error)
        ti_npu_cannot(w, ti_text_format(w->arena, "%s of %s cannot hold %" PRId64, info->name,
                                        w->machine->name, value));
}

uint32_t ti_npu_field(tc_npu_writer *w, int code, int64_t value, int at, int width)
{
    if (value < 0 || value >> width)
        does_not_fit(w, code, value);
    return (uint32_t)(value & ((INT64_C(1) << width) - 1)) << at;
}

uint32_t ti_npu_signed_field(tc_npu_writer *w, int code, int64_t value, int width)
{
    int64_t half = INT64_C(1) << (width - 1);
    if (value < -half || value >= half)
        does_not_fit(w, code, value);
    return (uint32_t)(value & (2 * half - 1));
}

static void put_word(tc_npu_writer *w, uint32_t word)
{
    ti_buf_u32(&w->words, word);
}

void ti_npu_put(tc_npu_writer *w, int code, uint32_t param)
{
    put_word(w, (uint32_t)code | param << 16);
}

void ti_npu_set(tc_npu_writer *w, int code, int64_t value)
{
    const tc_npu_command_info *info = row_of(w, code);
    size_t at = (size_t)code - 256;
    if (!info)
        return;
    if (value < 0 || value & ~(int64_t)info->bits[w->machine->product])
        does_not_fit(w, code, value);
    if (w->reg.known[at] && w->reg.set[at] == value)
        return;
    tc_npu_command c = {.info = info, .param = (uint16_t)value};
    ti_npu_register_set(&w->reg, &c);
    ti_npu_put(w, code, c.param);
}

void ti_npu_set2(tc_npu_writer *w, int code, uint32_t param, uint32_t payload)
{
    const tc_npu_command_info *info = row_of(w, code);
    if (!info)
        return;
    if (param & ~(uint32_t)info->bits[w->machine->product])
        does_not_fit(w, code, param);
    if (w->reg.known2[code] && w->reg.set2[code].param == param &&
        w->reg.set2[code].payload == payload)
        return;
    tc_npu_command c = {.info = info, .param = (uint16_t)param, .payload = payload};
    ti_npu_register_set(&w->reg, &c);
    ti_npu_put(w, code | 1 << 14, param);
    put_word(w, payload);
}

/* Addresses and lengths are of 40 bits, on U55 of 32. */
void ti_npu_set_address(tc_npu_writer *w, int code, uint64_t value)
{
    if (value >> (w->machine->product == TC_U55 ? 32 : 40))
        does_not_fit(w, code, (int64_t)value);
    ti_npu_set2(w, code, (uint32_t)(value >> 32) & 0xff, (uint32_t)value);
}

/* Strides are signed, of 40 bits on every machine. */
void ti_npu_set_stride(tc_npu_writer *w, int code, int64_t value)
{
    int64_t half = INT64_C(1) << 39;
    if (value < -half || value >= half)
        does_not_fit(w, code, value);
    ti_npu_set2(w, code, (uint32_t)((uint64_t)value >> 32) & 0xff, (uint32_t)value);
}

void ti_npu_forget(tc_npu_writer *w, int code)
{
    if (words_of(code) == 1)
        w->reg.known[code - 256] = false;
    else
        w->reg.known2[code] = false;
}

void ti_npu_forget_all(tc_npu_writer *w)
{
    memset(w->reg.known, 0, sizeof w->reg.known);
    memset(w->reg.known2, 0, sizeof w->reg.known2);
}
