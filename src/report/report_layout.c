/* SPDX-License-Identifier: Apache-2.0 */
/* report_layout.c -- boxes by module; see report_layout.h.  layers.c puts what a box holds into
 * rows. */
#include "layers.h"

typedef struct boxes {
    tc_arena *arena, *scratch;
    tc_layout_group *group;
    size_t n, cap;
    int32_t *of; /* by node: its box */
    const tc_layout_node *node;
    size_t n_node;
} boxes;

static int32_t open_box(boxes *b, int32_t parent, const char *name, const char *path)
{
    tc_grow(b->arena, b->group, b->n, b->cap);
    b->group[b->n] = (tc_layout_group){.name = name, .path = path, .parent = parent};
    return (int32_t)b->n++;
}

static void add_item(boxes *b, int32_t box, int32_t item)
{
    tc_layout_group *g = &b->group[box];
    tc_grow(b->arena, g->item, g->n_item, g->cap_item);
    g->item[g->n_item++] = item;
}

static bool begins_with(const char *path, const char *outer)
{
    size_t n = strlen(outer);
    return !n || (strncmp(path, outer, n) == 0 && (path[n] == '.' || !path[n]));
}

/* The box for a path: the one that is open now, as far as it goes, then new ones inside it. */
static int32_t enter(boxes *b, int32_t now, const char *path)
{
    while (!begins_with(path, b->group[now].path))
        now = b->group[now].parent;
    for (;;) {
        const char *outer = b->group[now].path;
        size_t n = strlen(outer);
        if (!path[n])
            return now;
        const char *rest = path + n + (n && path[n] == '.');
        size_t word = strcspn(rest, ".");
        if (!word)
            return now;
        int32_t inner =
            open_box(b, now, ti_text_copy(b->arena, (tc_str){rest, word}),
                     ti_text_copy(b->arena, (tc_str){path, (size_t)(rest - path) + word}));
        add_item(b, now, -1 - inner);
        now = inner;
    }
}

static void fill_boxes(boxes *b)
{
    int32_t now = open_box(b, -1, "", "");
    for (size_t k = 0; k < b->n_node; k++) {
        if (b->node[k].module)
            now = enter(b, now, b->node[k].module);
        add_item(b, now, (int32_t)k);
        b->of[k] = now;
        if (b->node[k].module && ti_text_eq(b->node[k].module, b->group[now].path))
            b->group[now].type = b->node[k].module_type;
    }
}

/* A box around a single thing goes; around a single box it gives that its name. */
static void drop_lonely(boxes *b)
{
    for (size_t i = b->n; i-- > 1;) {
        tc_layout_group *g = &b->group[i], *p = &b->group[g->parent];
        if (g->n_item != 1)
            continue;
        for (size_t k = 0; k < p->n_item; k++)
            if (p->item[k] == -1 - (int32_t)i)
                p->item[k] = g->item[0];
        if (g->item[0] < 0) {
            tc_layout_group *inner = &b->group[-1 - g->item[0]];
            inner->name = ti_text_format(b->arena, "%s.%s", g->name, inner->name);
            inner->parent = g->parent;
        } else
            b->of[g->item[0]] = g->parent;
        g->n_item = 0;
    }
}

/* Only boxes that hold something are kept. */
static void renumber(boxes *b)
{
    int32_t *to = tc_new_n(b->scratch, int32_t, b->n), kept = 0;
    for (size_t i = 0; i < b->n; i++)
        to[i] = b->group[i].n_item || !i ? kept++ : -1;
    for (size_t i = 0; i < b->n; i++) {
        if (to[i] < 0)
            continue;
        tc_layout_group g = b->group[i];
        for (size_t k = 0; k < g.n_item; k++)
            if (g.item[k] < 0)
                g.item[k] = -1 - to[-1 - g.item[k]];
        g.parent = g.parent < 0 ? -1 : to[g.parent];
        b->group[to[i]] = g;
    }
    for (size_t k = 0; k < b->n_node; k++)
        b->of[k] = to[b->of[k]];
    b->n = (size_t)kept;
}

static int depth_of(const boxes *b, int32_t box)
{
    int depth = 0;
    for (; b->group[box].parent >= 0; box = b->group[box].parent)
        depth++;
    return depth;
}

/* The edge between two nodes, as one between two items of the box that holds both. */
static void join(boxes *b, const uint32_t *place_of_node, const uint32_t *place_of_box,
                 uint32_t from, uint32_t to, tc_map *seen)
{
    int32_t a = b->of[from], c = b->of[to];
    uint32_t x = place_of_node[from], y = place_of_node[to];
    int da = depth_of(b, a), dc = depth_of(b, c);
    while (a != c) {
        bool up_a = da >= dc, up_c = dc >= da;
        if (up_a) {
            x = place_of_box[a];
            a = b->group[a].parent;
            da--;
        }
        if (up_c) {
            y = place_of_box[c];
            c = b->group[c].parent;
            dc--;
        }
    }
    struct {
        int32_t box;
        uint32_t from, to;
    } key = {a, x, y};
    void **slot = ti_map_at(seen, (tc_str){(const char *)&key, sizeof key});
    if (x == y || *slot)
        return;
    *slot = b;
    tc_layout_group *g = &b->group[a];
    tc_grow(b->arena, g->edge, g->n_edge, g->cap_edge);
    g->edge[g->n_edge++] = (tc_layout_edge){x, y};
}

static void join_all(boxes *b)
{
    uint32_t *place_of_node = tc_new_n(b->scratch, uint32_t, b->n_node + 1),
             *place_of_box = tc_new_n(b->scratch, uint32_t, b->n);
    tc_map seen;
    ti_map_init(&seen, b->scratch);
    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < b->group[i].n_item; k++) {
            int32_t item = b->group[i].item[k];
            *(item < 0 ? &place_of_box[-1 - item] : &place_of_node[item]) = (uint32_t)k;
        }
    for (size_t k = 0; k < b->n_node; k++)
        for (size_t i = 0; i < b->node[k].n_in; i++)
            join(b, place_of_node, place_of_box, b->node[k].in[i], (uint32_t)k, &seen);
}

tc_layout ti_layout_make(tc_arena *arena, tc_arena *scratch, const tc_layout_node *node, size_t n)
{
    tc_mark mark = ti_arena_mark(scratch);
    boxes b = {.arena = arena,
               .scratch = scratch,
               .node = node,
               .n_node = n,
               .of = tc_new_n(scratch, int32_t, n + 1)};
    fill_boxes(&b);
    drop_lonely(&b);
    renumber(&b);
    join_all(&b);
    for (size_t i = 0; i < b.n; i++)
        ti_layers_make(arena, scratch, &b.group[i]);
    ti_arena_rewind(scratch, mark);
    return (tc_layout){b.group, b.n};
}
