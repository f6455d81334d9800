/* SPDX-License-Identifier: Apache-2.0 */
/* c_size.c -- estimated flash of the model's functions: there is no compiler for the core here, so
 * constructs in their text are counted, and code_sizes.def has the bytes of each. */
#include "c_model.h"

static const struct {
    const char *text;
    size_t bytes[TC_PACES];
} sizes[] = {
#define CODE(text, v6, v7, dsp, mve) {text, {v6, v7, dsp, mve}},
#include "code_sizes.def"
};

static size_t bytes_at(const char *p, const char *end, tc_pace pace)
{
    for (size_t i = 0; i < TC_COUNT(sizes); i++) {
        size_t n = strlen(sizes[i].text);
        if (*p == *sizes[i].text && (size_t)(end - p) >= n && memcmp(p, sizes[i].text, n) == 0)
            return sizes[i].bytes[pace];
    }
    return 0;
}

/* After preprocessing: loops occur twice, for MVE and for other cores. */
size_t ti_c_code_bytes(const tc_c_model *m)
{
    const char *p = (const char *)m->code.data, *end = p + m->code.size;
    bool mve = m->request->core == TC_CORE_MVE, kept = true, begins = true;
    size_t bytes = m->table_bytes;
    for (; m->request->machine && p < end; p++) {
        if (begins && *p == '#')
            kept = p[1] == 'e' && p[2] == 'n' ? true : p[1] == 'e' ? !mve : mve;
        begins = *p == '\n';
        bytes += kept ? bytes_at(p, end, m->request->machine->pace) : 0;
    }
    return bytes;
}
