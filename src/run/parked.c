/* SPDX-License-Identifier: Apache-2.0 */
/* parked.c -- see parked.h. */
#include "parked.h"

#include <math.h>

#include "../num/lanes.h"
#include "../num/snap.h"
#include "plan_steps.h"

enum { PARKED_BLOCK = 64 };
static const float MOST_CODE = 32767;

typedef enum parked_form { FORM_BYTES, FORM_CODES8, FORM_CODES16, FORM_BRIEF } parked_form;

typedef struct parked_value {
    size_t store;
    parked_form form;
    int64_t n; /* elements; of FORM_BYTES bytes */
    tc_snap grid;
    float *scale; /* FORM_BRIEF: by block */
    void *data;
} parked_value;

/* ---- values to codes and back ---- */

/* Rounding by addition: codes are far below 2^22. */
#define ROUNDED(x) (((x) + 0x1.8p23f) - 0x1.8p23f)

TC_LANES_BODY codes8(const tc_snap *grid, const float *restrict x, uint8_t *restrict to, int64_t n)
{
    const tc_snap g = *grid;
    for (int64_t i = 0; i < n; i++)
        to[i] = (uint8_t)(int32_t)(ROUNDED(x[i] * g.inverse) + (g.zero - g.lo));
}
TC_LANES(static, to_codes8, codes8,
         (const tc_snap *grid, const float *restrict x, uint8_t *restrict to, int64_t n),
         (grid, x, to, n))

TC_LANES_BODY codes16(const tc_snap *grid, const float *restrict x, uint16_t *restrict to,
                      int64_t n)
{
    const tc_snap g = *grid;
    for (int64_t i = 0; i < n; i++)
        to[i] = (uint16_t)(int32_t)(ROUNDED(x[i] * g.inverse) + (g.zero - g.lo));
}
TC_LANES(static, to_codes16, codes16,
         (const tc_snap *grid, const float *restrict x, uint16_t *restrict to, int64_t n),
         (grid, x, to, n))

/* As ti_snap_f32 computes them. */
TC_LANES_BODY real8(const tc_snap *grid, const uint8_t *restrict x, float *restrict to, int64_t n)
{
    const tc_snap g = *grid;
    for (int64_t i = 0; i < n; i++)
        to[i] = ((float)x[i] + g.lo - g.zero) * g.scale;
}
TC_LANES(static, from_codes8, real8,
         (const tc_snap *grid, const uint8_t *restrict x, float *restrict to, int64_t n),
         (grid, x, to, n))

TC_LANES_BODY real16(const tc_snap *grid, const uint16_t *restrict x, float *restrict to,
                     int64_t n)
{
    const tc_snap g = *grid;
    for (int64_t i = 0; i < n; i++)
        to[i] = ((float)x[i] + g.lo - g.zero) * g.scale;
}
TC_LANES(static, from_codes16, real16,
         (const tc_snap *grid, const uint16_t *restrict x, float *restrict to, int64_t n),
         (grid, x, to, n))

/* The largest magnitude of each whole block; infinity where one is NaN or very large. */
TC_LANES_BODY largest(const float *restrict x, float *restrict most, int64_t blocks)
{
    for (int64_t b = 0; b < blocks; b++, x += PARKED_BLOCK) {
        uint32_t bits[PARKED_BLOCK], m = 0;
        float magnitude;
        memcpy(bits, x, sizeof bits);
        for (int i = 0; i < PARKED_BLOCK; i++) { /* magnitudes are in the order of their bits, NaN above */
            uint32_t v = bits[i] & 0x7fffffff;
            m = v > m ? v : m;
        }
        memcpy(&magnitude, &m, sizeof m);
        most[b] = magnitude <= 0x1p100f ? magnitude : INFINITY;
    }
}
TC_LANES(static, find_largest, largest,
         (const float *restrict x, float *restrict most, int64_t blocks), (x, most, blocks))

TC_LANES_BODY brief(const float *restrict x, const float *restrict scale, int16_t *restrict to,
                    int64_t blocks)
{
    for (int64_t b = 0; b < blocks; b++, x += PARKED_BLOCK, to += PARKED_BLOCK) {
        float by = scale[b] > 0 ? 1 / scale[b] : 0;
        for (int i = 0; i < PARKED_BLOCK; i++)
            to[i] = (int16_t)(int32_t)ROUNDED(x[i] * by);
    }
}
TC_LANES(static, to_brief, brief,
         (const float *restrict x, const float *restrict scale, int16_t *restrict to,
          int64_t blocks),
         (x, scale, to, blocks))

TC_LANES_BODY real_brief(const int16_t *restrict x, float by, float *restrict to, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)x[i] * by;
}
TC_LANES(static, from_brief, real_brief,
         (const int16_t *restrict x, float by, float *restrict to, int64_t n), (x, by, to, n))

static int64_t blocks_of(int64_t n) { return (n + PARKED_BLOCK - 1) / PARKED_BLOCK; }

/* ---- parking ---- */

static bool is_alive(const store *s, size_t next)
{
    return s->kind == STORE_MADE && s->life.first < (int32_t)next && s->life.last >= (int32_t)next;
}

static parked_form form_of(const store *s, bool brief)
{
    float codes = s->grid ? s->grid->hi - s->grid->lo : INFINITY;
    return !s->real          ? FORM_BYTES
           : codes <= 0xff   ? FORM_CODES8
           : codes <= 0xffff ? FORM_CODES16
           : brief && s->size >= PARKED_BLOCK * sizeof(float) ? FORM_BRIEF
                                                              : FORM_BYTES;
}

static size_t bytes_of(const parked_value *v)
{
    size_t n = (size_t)v->n;
    switch (v->form) {
    case FORM_CODES16:
    case FORM_BRIEF:
        return 2 * n;
    case FORM_CODES8:
    case FORM_BYTES:
    default:
        return n;
    }
}

static size_t rounded_up(size_t n) { return (n + 63) & ~(size_t)63; }

/* Scales of all blocks; false: not all exist. */
static bool find_scales(parked_value *v, const float *x)
{
    int64_t whole = v->n / PARKED_BLOCK, blocks = blocks_of(v->n);
    find_largest(x, v->scale, whole);
    if (blocks > whole) {
        float last[PARKED_BLOCK] = {0};
        memcpy(last, x + whole * PARKED_BLOCK,
               (size_t)(v->n - whole * PARKED_BLOCK) * sizeof *last);
        find_largest(last, v->scale + whole, 1);
    }
    for (int64_t b = 0; b < blocks; b++) {
        if (!(v->scale[b] <= 0x1p100f))
            return false;
        v->scale[b] = v->scale[b] < 0x1p-90f ? 0 : v->scale[b] / MOST_CODE;
    }
    return true;
}

static void write_brief(const parked_value *v, const float *x)
{
    int64_t whole = v->n / PARKED_BLOCK, rest = v->n - whole * PARKED_BLOCK;
    int16_t *to = v->data;
    to_brief(x, v->scale, to, whole);
    if (rest) {
        float last[PARKED_BLOCK] = {0};
        int16_t codes[PARKED_BLOCK];
        memcpy(last, x + whole * PARKED_BLOCK, (size_t)rest * sizeof *last);
        to_brief(last, v->scale + whole, codes, 1);
        memcpy(to + whole * PARKED_BLOCK, codes, (size_t)rest * sizeof *codes);
    }
}

static void write_value(const parked_value *v, const void *from)
{
    switch (v->form) {
    case FORM_BYTES:
        memcpy(v->data, from, (size_t)v->n);
        return;
    case FORM_CODES8:
        to_codes8(&v->grid, from, v->data, v->n);
        return;
    case FORM_CODES16:
        to_codes16(&v->grid, from, v->data, v->n);
        return;
    case FORM_BRIEF:
        write_brief(v, from);
        return;
    }
}

void ti_plan_park(const tc_plan *plan, bool brief, tc_parked *to)
{
    size_t n = 0, bytes = 0, head, scales = 0;
    ti_arena_free(&to->room);
    for (size_t i = 0; i < plan->n_store; i++)
        if (is_alive(&plan->store[i], plan->next)) {
            n++;
            scales += (size_t)blocks_of((int64_t)(plan->store[i].size / sizeof(float)));
        }
    head = rounded_up(n * sizeof *to->value);
    float *scale = ti_arena_raw(&to->room, head + scales * sizeof(float));
    to->value = (parked_value *)(void *)scale;
    scale += head / sizeof *scale;
    to->n = 0;
    for (size_t i = 0; i < plan->n_store; i++) {
        const store *s = &plan->store[i];
        if (!is_alive(s, plan->next))
            continue;
        parked_value *v = &to->value[to->n++];
        *v = (parked_value){.store = i, .form = form_of(s, brief), .scale = scale};
        v->n = (int64_t)(v->form == FORM_BYTES ? s->size : s->size / sizeof(float));
        if (s->grid)
            v->grid = *s->grid;
        if (v->form == FORM_BRIEF && !find_scales(v, s->data)) {
            v->form = FORM_BYTES;
            v->n = (int64_t)s->size;
        }
        scale += v->form == FORM_BRIEF ? blocks_of(v->n) : 0;
        bytes += rounded_up(bytes_of(v));
    }
    uint8_t *data = ti_arena_raw(&to->room, bytes);
    for (size_t i = 0; i < to->n; i++) {
        to->value[i].data = data;
        data += rounded_up(bytes_of(&to->value[i]));
        write_value(&to->value[i], plan->store[to->value[i].store].data);
    }
    to->next = plan->next;
}

/* ---- and back ---- */

static void read_brief(const parked_value *v, int64_t first, int64_t n, float *to)
{
    const int16_t *x = v->data;
    for (int64_t at = first; at < first + n;) {
        int64_t block = at / PARKED_BLOCK,
                some = ti_min_i64((block + 1) * PARKED_BLOCK, first + n) - at;
        from_brief(x + at, v->scale[block], to, some);
        at += some;
        to += some;
    }
}

static void read_value(const parked_value *v, int64_t first, int64_t n, float *to)
{
    switch (v->form) {
    case FORM_BYTES:
        memcpy(to, (const float *)v->data + first, (size_t)n * sizeof *to);
        return;
    case FORM_CODES8:
        from_codes8(&v->grid, (const uint8_t *)v->data + first, to, n);
        return;
    case FORM_CODES16:
        from_codes16(&v->grid, (const uint16_t *)v->data + first, to, n);
        return;
    case FORM_BRIEF:
        read_brief(v, first, n, to);
        return;
    }
}

void ti_plan_unpark(tc_plan *plan, const tc_parked *from, const tc_tensor *in, void *const *state)
{
    ti_plan_start(plan, in, state);
    plan->next = from->next;
    for (size_t i = 0; i < from->n; i++) {
        const parked_value *v = &from->value[i];
        void *to = plan->store[v->store].data;
        if (v->form == FORM_BYTES)
            memcpy(to, v->data, (size_t)v->n);
        else
            read_value(v, 0, v->n, to);
    }
}

/* ---- one value ---- */

static const place *place_of(const tc_plan *plan, tc_val v)
{
    for (size_t i = 0; i < plan->n_step; i++)
        for (const shown *s = plan->step[i].show; s; s = s->next)
            if (s->val == v)
                return s->place;
    return NULL;
}

static bool view_of(const tc_plan *plan, const tc_parked *from, const place *p,
                    tc_parked_view *out)
{
    const store *s = &plan->store[p->store];
    *out = (tc_parked_view){.type = p->type, .order = p->layout.axis};
    if (s->kind == STORE_KNOWN)
        out->data = s->data;
    for (size_t i = 0; i < from->n && s->kind == STORE_MADE; i++)
        if (from->value[i].store == p->store)
            out->value = &from->value[i];
    return out->value || out->data;
}

bool ti_parked_find(const tc_plan *plan, const tc_parked *from, const tc_tensor *in, tc_val v,
                    tc_parked_view *out)
{
    static const int8_t plain[TC_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    if (ti_type_of(plan->g, v)->dtype != TC_f32)
        return false;
    for (size_t i = 0; i < plan->g->n_in; i++)
        if (plan->g->in[i] == v) {
            *out = (tc_parked_view){in[i].type, plain, NULL, in[i].data};
            return true;
        }
    for (const place *p = place_of(plan, v); p; p = p->next)
        if (view_of(plan, from, p, out))
            return true;
    return false;
}

void ti_parked_read(const tc_parked_view *view, int64_t first, int64_t n, float *to)
{
    if (view->value)
        read_value(view->value, first, n, to);
    else
        memcpy(to, view->data + first, (size_t)n * sizeof *to);
}
