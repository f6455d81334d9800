/* SPDX-License-Identifier: Apache-2.0 */
/* sample_choice.c -- samples: their content, errors in them, and a choice that does not depend on
 * their order. */
#include "sample_runner.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "../base/mapped.h"
#include "../num/load.h"
#include "../run/plan.h"
#include "observations.h"

tc_tensor *ti_input_buffers_in(tc_arena *arena, const tc_graph *g)
{
    tc_tensor *in = tc_new_n(arena, tc_tensor, g->n_in);
    for (size_t i = 0; i < g->n_in; i++)
        in[i] = ti_tensor_new(arena, ti_type_of(g, g->in[i]));
    return in;
}

tc_tensor *ti_input_buffers(tc_ctx *ctx, const tc_graph *g)
{
    return ti_input_buffers_in(&ctx->arena, g);
}

/* ---- the program's state ---- */

static size_t memory_size(const tc_memory *m, size_t i)
{
    return tc_type_bytes(ti_type_of(m->g, m->g->mutation[i].before));
}

tc_memory ti_memory_new(tc_arena *arena, const tc_graph *g)
{
    tc_memory m = {g, tc_new_n(arena, void *, g->n_mutation),
                   tc_new_n(arena, void *, g->n_mutation)};
    for (size_t i = 0; i < g->n_mutation; i++) {
        m.now[i] = ti_arena_raw(arena, memory_size(&m, i));
        m.other[i] = ti_arena_raw(arena, memory_size(&m, i));
    }
    ti_memory_reset(&m);
    return m;
}

void ti_memory_reset(const tc_memory *m)
{
    for (size_t i = 0; i < m->g->n_mutation; i++)
        memcpy(m->now[i], m->g->val[m->g->mutation[i].before]->data, memory_size(m, i));
}

/* One buffer's new contents may alias another's old ones: all are copied before any is used. */
void ti_memory_keep(const tc_memory *m, const tc_tensor *after)
{
    for (size_t i = 0; i < m->g->n_mutation; i++)
        memcpy(m->other[i], after[i].data, memory_size(m, i));
    for (size_t i = 0; i < m->g->n_mutation; i++) {
        void *old = m->now[i];
        m->now[i] = m->other[i];
        m->other[i] = old;
    }
}

void ti_memory_copy(const tc_memory *m, void *const *from)
{
    for (size_t i = 0; i < m->g->n_mutation; i++)
        memcpy(m->now[i], from[i], memory_size(m, i));
}

/* ---- samples ---- */

/* Words in four independent lanes. */
uint64_t ti_sample_hash(const tc_tensor *in, size_t n)
{
    uint64_t h = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = in[i].data;
        size_t size = tc_type_bytes(in[i].type), k = 0;
        uint64_t lane[4] = {h, 1, 2, 3};
        for (; k + 32 <= size; k += 32)
            for (int j = 0; j < 4; j++) {
                uint64_t v =
                    (lane[j] ^ ti_le64(p + k + 8 * (size_t)j)) * UINT64_C(0x9e3779b97f4a7c15);
                lane[j] = v ^ v >> 29;
            }
        h = ti_hash(p + k, size - k, ti_hash(lane, sizeof lane, 0));
    }
    return h;
}

static int64_t first_odd_number(tc_tensor t)
{
    int64_t n = tc_type_count(t.type);
    if (t.type->dtype == TC_f32 && ti_all_finite(t.data, n))
        return -1;
    const float *x = t.data;
    for (int64_t i = 0; i < n; i++)
        if (t.type->dtype == TC_f32 ? !(fabsf(x[i]) <= FLT_MAX) : !isfinite(ti_load_f64(t, i)))
            return i;
    return -1;
}

tc_status ti_sample_check(tc_ctx *ctx, const tc_graph *g, size_t k, const tc_tensor *in)
{
    for (size_t i = 0; i < g->n_in; i++) {
        int64_t at = ti_is_float(in[i].type->dtype) ? first_odd_number(in[i]) : -1;
        const char *name = g->val[g->in[i]]->name;
        if (at >= 0)
            return ti_error(ctx, NULL, TC_E_DATA,
                            "calibration sample %zu: element %" PRId64
                            " of '%s' is %s, which no range can hold",
                            k, at, name ? name : "the input",
                            isnan(ti_load_f64(in[i], at)) ? "NaN" : "infinite");
    }
    return TC_OK;
}


/* ---- a choice ---- */

typedef struct picked {
    uint64_t hash;
    size_t index;
    tc_tensor *in; /* its index: data may be slow to read in another order */
    tc_memory before; /* the program's state before it */
} picked;

/* Those with the least hashes, in their order; shared by all who ask for the first of them. */
typedef struct choice {
    size_t n_in;
    picked *pick;
    size_t n, most;   /* most: so many were asked for; fewer: there are no others */
    tc_arena room;    /* what was picked */
    tc_arena reading; /* what is read */
    tc_samples of;
    const tc_type **type;  /* of the inputs */
    const uint64_t *aside; /* hashes of the odd samples */
    size_t n_aside;
    bool only_odd;
    int users;
    tc_shelf *shelf; /* where it stands; NULL: nowhere */
} choice;

enum { FEW_BYTES = 4 << 20 };

/* A choice of few bytes stays for the next one who asks, another one while somebody uses it. */
struct tc_shelf {
    choice *few, *used;
};

/* One user's part: the first n from `first` on. */
typedef struct part {
    choice *of;
    size_t first, n;
    bool ended;
} part;

static void free_choice(void *what)
{
    choice *c = what;
    if (c->shelf && c->shelf->few == c)
        c->shelf->few = NULL;
    if (c->shelf && c->shelf->used == c)
        c->shelf->used = NULL;
    ti_arena_free(&c->room);
    ti_arena_free(&c->reading);
}

static void end_part(void *what)
{
    part *p = what;
    if (!p->ended && --p->of->users == 0 && !(p->of->shelf && p->of->shelf->few == p->of))
        free_choice(p->of);
    p->ended = true;
}

tc_shelf *ti_shelf_new(tc_ctx *ctx) { return tc_new(&ctx->arena, tc_shelf); }

void ti_shelf_clear(tc_shelf *shelf)
{
    if (shelf && shelf->few && !shelf->few->users)
        free_choice(shelf->few);
}

static int by_hash(const void *a, const void *b)
{
    const picked *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool is_odd(const tc_domains *domains, uint64_t hash)
{
    for (size_t i = 0; i < domains->n_odd; i++)
        if (domains->odd[i].hash == hash)
            return true;
    return false;
}

static void copy_sample(const tc_tensor *from, const tc_tensor *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(to[i].data, from[i].data, tc_type_bytes(from[i].type));
}

/* A slot for one more: a new one, or that of the greatest when the new one is less; NULL: none. */
static picked *room_for(const tc_graph *g, choice *c, size_t most, const picked *new)
{
    if (c->n < most) {
        c->pick[c->n].in = ti_input_buffers_in(&c->room, g);
        c->pick[c->n].before = ti_memory_new(&c->room, g);
        return &c->pick[c->n++];
    }
    picked *greatest = c->n ? c->pick : NULL;
    for (size_t i = 1; i < c->n; i++)
        if (by_hash(&c->pick[i], greatest) > 0)
            greatest = &c->pick[i];
    return greatest && by_hash(new, greatest) < 0 ? greatest : NULL;
}

static tc_status read_picked(void *from, size_t k, const tc_tensor *in)
{
    const part *p = from;
    copy_sample(p->of->pick[p->first + k].in, in, p->of->n_in);
    return TC_OK;
}

static void *const *picked_state(void *from, size_t k)
{
    const part *p = from;
    return p->of->pick[p->first + k].before.now;
}

/* A stateful program is run on all samples, in order. */
typedef struct walk {
    tc_plan *plan; /* NULL: stateless, or every sample starts from the initial state */
    tc_memory memory;
    tc_tensor *out, *after;
} walk;

static tc_status begin_walk(tc_ctx *ctx, tc_arena *room, const tc_graph *g, bool reset, walk *w)
{
    bool carries = g->n_mutation && !reset;
    *w = (walk){.memory = ti_memory_new(room, g),
                .out = tc_new_n(&ctx->arena, tc_tensor, g->n_out),
                .after = tc_new_n(&ctx->arena, tc_tensor, g->n_mutation)};
    if (carries)
        w->plan = ti_plan_new(ctx, (tc_graph *)(uintptr_t)g, NULL);
    return carries && !w->plan
               ? ti_unsupported(ctx, NULL, TC_E_UNSUPPORTED,
                                "the program has operators that cannot be calibrated")
               : TC_OK;
}

static tc_status step_walk(const walk *w, const tc_tensor *in)
{
    if (!w->plan)
        return TC_OK;
    TC_TRY(ti_plan_run(w->plan, in, w->out, w->memory.now, w->after));
    ti_memory_keep(&w->memory, w->after);
    return TC_OK;
}

static tc_status read_all(tc_ctx *ctx, const tc_graph *g, const tc_domains *domains, choice *c)
{
    const tc_samples *from = &c->of;
    tc_tensor *in = ti_input_buffers_in(&c->reading, g);
    walk w;
    TC_TRY(begin_walk(ctx, &c->reading, g, from->reset, &w));
    for (size_t k = 0; k < from->n; k++) {
        TC_TRY(from->read(from->from, k, in));
        size_t number = ti_sample_number(from, k);
        TC_TRY(ti_sample_check(ctx, g, number, in));
        picked one = {.hash = ti_sample_hash(in, g->n_in), .index = number};
        bool taken = is_odd(domains, one.hash) == domains->only_odd;
        picked *room = taken ? room_for(g, c, c->most, &one) : NULL;
        if (room) {
            room->hash = one.hash;
            room->index = number;
            copy_sample(in, room->in, g->n_in);
            ti_memory_copy(&room->before, w.memory.now);
        }
        TC_TRY(step_walk(&w, in));
    }
    if (w.plan)
        ti_plan_end(w.plan);
    ti_arena_free(&c->reading);
    qsort(c->pick, c->n, sizeof *c->pick, by_hash);
    return TC_OK;
}

static bool same_aside(const choice *c, const tc_domains *domains)
{
    bool same = c->only_odd == domains->only_odd && c->n_aside == domains->n_odd;
    for (size_t i = 0; same && i < c->n_aside; i++)
        same = c->aside[i] == domains->odd[i].hash;
    return same;
}

/* The first of it are what is asked for. */
static bool serves(const choice *c, const tc_graph *g, const tc_samples *from,
                   const tc_domains *domains, size_t most)
{
    bool same = c && c->of.read == from->read && c->of.from == from->from && c->of.n == from->n &&
                c->n_in == g->n_in && (most <= c->most || c->n < c->most) && same_aside(c, domains);
    for (size_t i = 0; same && i < g->n_in; i++)
        same = c->type[i] == ti_type_of(g, g->in[i]);
    return same;
}

static choice *choice_of(tc_ctx *ctx, const tc_graph *g, const tc_samples *from,
                         const tc_domains *domains, size_t most)
{
    choice *c = tc_new(&ctx->arena, choice);
    uint64_t *aside = tc_new_n(&ctx->arena, uint64_t, domains->n_odd);
    *c = (choice){.n_in = g->n_in, .most = most, .of = *from, .only_odd = domains->only_odd,
                  .n_aside = domains->n_odd, .aside = aside};
    ti_arena_init_like(&c->room, &ctx->arena);
    ti_arena_init_like(&c->reading, &ctx->arena);
    ti_ctx_defer(ctx, free_choice, c);
    c->pick = tc_new_n(&ctx->arena, picked, most);
    c->type = tc_new_n(&ctx->arena, const tc_type *, g->n_in);
    for (size_t i = 0; i < g->n_in; i++)
        c->type[i] = ti_type_of(g, g->in[i]);
    for (size_t i = 0; i < domains->n_odd; i++)
        aside[i] = domains->odd[i].hash;
    return c;
}

static void put_on_shelf(tc_shelf *shelf, choice *c)
{
    size_t bytes = 0;
    for (size_t i = 0; i < c->n_in; i++)
        bytes += c->n * tc_type_bytes(c->type[i]);
    if (bytes <= FEW_BYTES) {
        ti_shelf_clear(shelf);
        shelf->few = c;
    } else
        shelf->used = c;
    c->shelf = shelf;
}

tc_status ti_choose_samples(tc_ctx *ctx, const tc_graph *g, const tc_samples *from,
                            const tc_domains *domains, size_t most, tc_samples *out)
{
    tc_shelf *shelf = g->n_mutation ? NULL : from->shelf; /* states are a program's own */
    choice *c = shelf ? shelf->few : NULL;
    if (shelf && !serves(c, g, from, domains, most))
        c = shelf->used;
    if (!serves(c, g, from, domains, most)) {
        c = choice_of(ctx, g, from, domains, most);
        TC_TRY(read_all(ctx, g, domains, c));
        if (shelf)
            put_on_shelf(shelf, c);
    }
    part *p = tc_new(&ctx->arena, part);
    *p = (part){.of = c, .n = c->n < most ? c->n : most};
    c->users++;
    ti_ctx_defer(ctx, end_part, p);
    *out = (tc_samples){.n = p->n,
                        .read = read_picked,
                        .from = p,
                        .progress = from->progress,
                        .who = from->who,
                        .state = picked_state};
    return TC_OK;
}

void ti_chosen_end(const tc_samples *chosen)
{
    if (chosen->read == read_picked)
        end_part(chosen->from);
}

size_t ti_picked_index(const tc_samples *samples, size_t k)
{
    const part *p = samples->from;
    return p->of->pick[p->first + k].index;
}

const tc_tensor *ti_picked_inputs(const tc_samples *samples, size_t k)
{
    const part *p = samples->from;
    return p->of->pick[p->first + k].in;
}

/* Others on the shelf's side will ask for them. */
void ti_picked_skip(const tc_ctx *ctx, tc_samples *samples, size_t n)
{
    part *p = samples->from;
    const choice *c = p->of;
    for (size_t k = p->first; k < p->first + n && !c->shelf; k++)
        for (size_t i = 0; i < c->n_in; i++)
            ti_pages_drop(ctx, c->pick[k].in[i].data, tc_type_bytes(c->pick[k].in[i].type));
    p->first += n;
    p->n -= n;
    samples->n -= n;
}
