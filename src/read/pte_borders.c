/* SPDX-License-Identifier: Apache-2.0 */
/* pte_borders.c -- quantization of a delegate's inputs and outputs, from the kernels next to it.
 */
#include "read_pte.h"

#include <stdio.h>

#include "../num/load.h"
#include "../target/tosa_schema.h"

/* Two tensors that show the same memory. */
static bool same_place(const tc_pte_method *m, int64_t a, int64_t b)
{
    const tc_pte_value *x = &m->value[a], *y = &m->value[b];
    return a == b || (x->tag == PTE_TENSOR && y->tag == PTE_TENSOR && x->placed && y->placed &&
                      x->memory == y->memory && x->offset == y->offset);
}

/* What the step hands back, the last of its arguments, is or holds the value. */
static bool writes(const tc_pte_method *m, const tc_pte_step *s, int64_t value)
{
    if (s->tag == PTE_DELEGATE_CALL) {
        for (int32_t i = 0; i < s->arg.n; i++)
            if (same_place(m, s->arg.v[i], value))
                return true;
        return false;
    }
    if (s->tag != PTE_KERNEL_CALL || !s->arg.n)
        return false;
    int64_t out = s->arg.v[s->arg.n - 1];
    for (int32_t i = 0; i < m->value[out].item.n; i++)
        if (m->value[out].item.v[i] >= 0 && same_place(m, m->value[out].item.v[i], value))
            return true;
    return same_place(m, out, value);
}

static bool is_kernel(const tc_pte_method *m, const tc_pte_step *s, const char *name)
{
    return s->tag == PTE_KERNEL_CALL && ti_str_is(m->op[s->what].name, name);
}

/* The first number of a tensor that the file has. */
static double first_number(tc_pte_file *f, const tc_pte_value *t)
{
    const void *data;
    bool there = t->tag == PTE_TENSOR && t->type && t->data && !t->placed && !t->external &&
                 tc_type_count(t->type) > 0 && t->data < f->n_constant;
    if (!there || ti_pte_numbers(f, t, &data) != TC_OK)
        return 0;
    return ti_load_f64((tc_tensor){t->type, (void *)(uintptr_t)data}, 0);
}

/* Scale and zero of a quantize or dequantize; false: it is neither. */
static bool read_grid(tc_pte_file *f, const tc_pte_method *m, const tc_pte_step *s,
                      const char *direction, tc_pte_border *b)
{
    char name[64];
    const int64_t *arg = s->arg.v;
    for (int channels = 0; channels < 2; channels++) {
        snprintf(name, sizeof name, "quantized_decomposed::%squantize_per_%s", direction,
                 channels ? "channel" : "tensor");
        if (!is_kernel(m, s, name) || s->arg.n < 7 + channels)
            continue;
        const tc_pte_value *scale = &m->value[arg[1]], *zero = &m->value[arg[2]];
        b->known = true;
        b->axis = channels ? m->value[arg[3]].plain.i : -1;
        b->scale = scale->tag == PTE_DOUBLE ? scale->plain.r : first_number(f, scale);
        b->zero = zero->tag == PTE_INT ? zero->plain.i : (int64_t)first_number(f, zero);
        b->qmin = m->value[arg[3 + channels]].plain.i;
        b->qmax = m->value[arg[4 + channels]].plain.i;
        return true;
    }
    return false;
}

/* The kernel that made the tensor, or one that reads it before it is overwritten. */
static void look_around(tc_pte_file *f, const tc_pte_method *m, size_t k, tc_pte_border *b)
{
    for (size_t j = k; b->is_input && j-- > 0;)
        if (writes(m, &m->step[j], b->value)) {
            if (read_grid(f, m, &m->step[j], "", b))
                return;
            break;
        }
    for (size_t j = k + 1; j < m->n_step; j++) {
        const tc_pte_step *s = &m->step[j];
        if (s->tag == PTE_KERNEL_CALL && s->arg.n && same_place(m, s->arg.v[0], b->value) &&
            read_grid(f, m, s, "de", b))
            return;
        if (writes(m, s, b->value))
            return;
    }
}

/* Inputs of the program and constants exist from the start, the rest once written. */
static bool is_there(const tc_pte_method *m, size_t k, int64_t value)
{
    if (m->value[value].data)
        return true;
    for (int32_t i = 0; i < m->in.n; i++)
        if (same_place(m, m->in.v[i], value))
            return true;
    for (size_t j = 0; j < k; j++)
        if (writes(m, &m->step[j], value))
            return true;
    return false;
}

/* This very value is among the arguments of a later step, or a result of the program. */
static bool is_read_later(const tc_pte_method *m, size_t k, int64_t value)
{
    for (int32_t i = 0; i < m->out.n; i++)
        if (m->out.v[i] == value)
            return true;
    for (size_t j = k + 1; j < m->n_step; j++)
        for (int32_t i = 0; i < m->step[j].arg.n; i++)
            if (m->step[j].arg.v[i] == value)
                return true;
    return false;
}

/* The inputs that a TOSA payload declares; false: it is none. */
static bool tosa_inputs(tc_bytes payload, size_t *n)
{
    tc_fb fb;
    ti_fb_init(&fb, payload, TC_TOSA_IDENTIFIER);
    tc_fb_vector regions = ti_fb_list(ti_fb_root(&fb), TOSA_GRAPH_REGIONS, 4);
    if (fb.error || !regions.n)
        return false;
    tc_fb_vector blocks = ti_fb_list(ti_fb_list_table(regions, 0), TOSA_REGION_BLOCKS, 4);
    if (fb.error || !blocks.n)
        return false;
    *n = ti_fb_list(ti_fb_list_table(blocks, 0), TOSA_BLOCK_INPUTS, 4).n;
    return !fb.error;
}

/* How many of the arguments are inputs: as the payload says, else the leading ones that hold a
 * value and are not written here for another reader. */
static size_t count_inputs(tc_pte_file *f, const tc_pte_method *m, size_t k)
{
    const tc_pte_step *s = &m->step[k];
    const tc_pte_delegate *d = &m->delegate[s->what];
    tc_ethosu_payload p;
    size_t n = 0, most = (size_t)s->arg.n;
    if (ti_ethosu_read(&f->ctx->arena, d->payload, &p) && p.n_in + p.n_out == most)
        return p.n_in;
    if ((tosa_inputs(d->tosa, &n) || tosa_inputs(d->payload, &n)) && n <= most)
        return n;
    n = 0;
    while (n < most && is_there(m, k, s->arg.v[n]) && !(n && is_read_later(m, k, s->arg.v[n])))
        n++;
    return n;
}

tc_pte_border *ti_pte_borders(tc_pte_file *f, const tc_pte_method *m, size_t k)
{
    const tc_pte_step *s = &m->step[k];
    tc_pte_border *border = tc_new_n(&f->ctx->arena, tc_pte_border, (size_t)s->arg.n);
    size_t n_in = count_inputs(f, m, k);
    for (size_t i = 0; i < (size_t)s->arg.n; i++) {
        border[i] = (tc_pte_border){.is_input = i < n_in, .value = s->arg.v[i], .axis = -1};
        look_around(f, m, k, &border[i]);
    }
    return border;
}
