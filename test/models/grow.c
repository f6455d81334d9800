/* SPDX-License-Identifier: Apache-2.0 */
/* grow.c -- the grammar's ground: dice, a pool of values, and the model as a whole. */
#include "models.h"

#include "num/load.h"

/* ---- dice ---- */

static uint64_t state;

void draw_from(uint64_t seed)
{
    state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 8; i++)
        draw(2);
}

uint64_t draw(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % n;
}

uint64_t draw_state(void) { return state; }
void draw_on(uint64_t from) { state = from; }

/* ---- values ---- */

const tc_type *type_at(const garden *d, tc_val v) { return ti_type_of(d->g, v); }

void put_many(garden *d, tc_op op, const void *attr, size_t attr_size, int n, const tc_val *in,
              int n_out, tc_val *out)
{
    tc_node *node;
    memset(out, 0, (size_t)n_out * sizeof *out);
    if (d->broken)
        return;
    void *record = attr ? ti_arena_copy(&d->ctx->arena, attr, attr_size) : NULL;
    if (ti_graph_emit(d->g, op, record, in, n, n_out, NULL, &node) != TC_OK) {
        d->broken = true;
        return;
    }
    memcpy(out, node->out, (size_t)n_out * sizeof *out);
}

tc_val put(garden *d, tc_op op, const void *attr, size_t attr_size, int n, const tc_val *in)
{
    tc_val out;
    put_many(d, op, attr, attr_size, n, in, 1, &out);
    return out;
}

void keep(garden *d, tc_val v)
{
    if (v && !d->broken && d->n_pool < MOST_VALUES && tc_type_count(type_at(d, v)) > 0 &&
        tc_type_count(type_at(d, v)) <= MOST_ELEMENTS)
        d->pool[d->n_pool++] = v;
}

/* The newer, the likelier; every value again now and then, so that values are shared. */
tc_val some(garden *d, tc_dtype dtype, int least_rank, int most_rank)
{
    for (int turn = 0; turn < 12 && d->n_pool; turn++) {
        size_t back = draw(3) ? draw(d->n_pool < 3 ? d->n_pool : 3) : draw(d->n_pool);
        tc_val v = d->pool[d->n_pool - 1 - back];
        const tc_type *t = type_at(d, v);
        if ((dtype == TC_none || t->dtype == dtype) && t->rank >= least_rank &&
            t->rank <= most_rank)
            return v;
    }
    return TC_NONE;
}

tc_val constant(garden *d, tc_dtype dtype, int rank, const int64_t *dim, double lo, double hi)
{
    tc_tensor t =
        ti_tensor_new(&d->ctx->arena, ti_type_make(d->ctx, dtype, (int32_t)rank, dim));
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        ti_store_f64(t, i, lo + (hi - lo) * (double)draw(1025) / 1024);
    return d->broken ? TC_NONE : ti_graph_const(d->g, t.type, t.data, NULL, NULL);
}

tc_val scalar(garden *d, double value)
{
    return d->broken ? TC_NONE : ti_graph_scalar(d->g, TC_f32, value, NULL);
}

tc_val index_const(garden *d, int rank, const int64_t *dim, int64_t below)
{
    tc_tensor t =
        ti_tensor_new(&d->ctx->arena, ti_type_make(d->ctx, TC_i64, (int32_t)rank, dim));
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        ti_store_i64(t, i, (int64_t)draw((uint64_t)below));
    return d->broken ? TC_NONE : ti_graph_const(d->g, t.type, t.data, NULL, NULL);
}

tc_ints list(garden *d, int n, const int64_t *v)
{
    return ti_ints_copy(&d->ctx->arena, v, (int32_t)n);
}

tc_ints same(garden *d, int n, int64_t value)
{
    return ti_ints_fill(&d->ctx->arena, value, (int32_t)n);
}

/* ---- the model ---- */

/* Pictures, sequences, rows, and tensors of any shape. */
static void plant(garden *d)
{
    static const int64_t extent[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16};
    int n = 1 + (draw(3) == 0) + (draw(8) == 0);
    for (int i = 0; i < n; i++) {
        int64_t dim[6] = {1 + (int64_t)(draw(4) == 0), extent[draw(TC_COUNT(extent))],
                          extent[draw(TC_COUNT(extent))], extent[draw(TC_COUNT(extent))], 2, 2};
        int rank = draw(3) == 0 ? 3 : draw(2) ? 4 : 1 + (int)draw(5);
        static const tc_dtype other[] = {TC_i64, TC_i64, TC_i32, TC_bool, TC_i8, TC_u8, TC_i16};
        tc_dtype dtype = draw(10) ? TC_f32 : other[draw(TC_COUNT(other))];
        keep(d, ti_graph_input(d->g, ti_type_make(d->ctx, dtype, rank, dim), NULL));
    }
}

static void grow_once(garden *d)
{
    static const struct {
        const grow_entry *list;
        int weight;
    } family[] = {{grow_eltwise, 40}, {grow_layers, 35}, {grow_moves, 30},
                  {grow_whole, 4},    {grow_ints, 12},   {grow_edges, 8},
                  {grow_idioms, 6}};
    int all = 0, f = 0;
    for (size_t i = 0; i < TC_COUNT(family); i++)
        all += family[i].weight;
    for (int at = (int)draw((uint64_t)all); at >= family[f].weight; f++)
        at -= family[f].weight;
    const grow_entry *entry = family[f].list;
    int sum = 0;
    for (const grow_entry *e = entry; e->rule; e++)
        sum += e->weight;
    for (int at = (int)draw((uint64_t)sum); at >= entry->weight; entry++)
        at -= entry->weight;
    entry->rule(d);
}

/* What nobody reads is a result, as long as there are not too many; the last one always is. */
static void harvest(garden *d)
{
    tc_graph *g = d->g;
    bool *read = tc_new_n(&d->ctx->arena, bool, g->n_val);
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            read[g->node[k]->in[i]] = true;
    for (size_t i = 0; i < g->n_mutation; i++)
        read[g->mutation[i].after] = true;
    for (size_t i = d->n_pool; i-- && n < 4;)
        if (!read[d->pool[i]] && g->val[d->pool[i]]->def && draw(8))
            ti_graph_output(g, d->pool[i]), n++;
    if (!n)
        ti_graph_output(g, d->pool[d->n_pool - 1]);
}

tc_module *grow_model(tc_ctx *ctx, uint64_t seed)
{
    draw_from(seed);
    tc_module *module = ti_module_new(ctx, "model");
    garden d = {.ctx = ctx, .g = ti_graph_new(module, "main")};
    plant(&d);
    size_t size = 1 + draw(draw(3) ? 8 : 24);
    for (size_t i = 0; i < 4 * size && d.g->n_node < size * 2 && !d.broken; i++)
        grow_once(&d);
    if (d.broken || !d.g->n_node)
        return NULL;
    harvest(&d);
    return module;
}
