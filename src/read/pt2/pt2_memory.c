/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_memory.c -- which names of a graph may show the same storage, and which operands a node
 * writes to: what has to be known of a program before its first node is imported.  A result that
 * may be a view counts as one. */
#include "pt2_program.h"

tc_str ti_pt2_memory_of(const tc_map *memory, tc_str name)
{
    for (const tc_str *next; (next = ti_map_get(memory, name));)
        name = *next;
    return name;
}

static void share(tc_pt2 *reader, tc_map *memory, tc_str a, tc_str b)
{
    if (!a.p || !b.p)
        return;
    a = ti_pt2_memory_of(memory, a);
    b = ti_pt2_memory_of(memory, b);
    if (a.n == b.n && memcmp(a.p, b.p, a.n) == 0)
        return;
    tc_str *owner = tc_new(&reader->work, tc_str);
    *owner = b;
    *ti_map_at(memory, a) = owner;
}

static tc_str name_in(tc_pt2 *reader, const tc_json *named)
{
    return ti_json_text(&reader->work, ti_json_get(named, "name"));
}

/* An argument's tensors: each of a list, or the one. */
static const tc_json *first_tensor(const tc_json *argument, bool *list)
{
    tc_str tag;
    const tc_json *value = ti_json_only(argument, &tag);
    *list = ti_str_is(tag, "as_tensors");
    return *list ? ti_json_first(value) : ti_str_is(tag, "as_tensor") ? value : NULL;
}

const tc_json *ti_pt2_first_tensor(const tc_json *node, bool *list)
{
    const tc_json *found = NULL, *arg = ti_json_first(ti_json_get(node, "inputs"));
    for (*list = false; arg && !found; arg = arg->next)
        found = first_tensor(ti_json_get(arg, "arg"), list);
    return found;
}

static const tc_json *argument_at(const tc_json *node, int i)
{
    const tc_json *arg = ti_json_first(ti_json_get(node, "inputs"));
    while (arg && i-- > 0)
        arg = arg->next;
    return ti_json_get(arg, "arg");
}

/* Result i shows operand i of a list, every result shows a lone operand. */
static void share_results(tc_pt2 *reader, tc_map *memory, const tc_json *node,
                          const tc_json *operand, bool many)
{
    bool list;
    for (const tc_json *out = ti_json_first(ti_json_get(node, "outputs")); out; out = out->next)
        for (const tc_json *r = first_tensor(out, &list); r && operand; r = list ? r->next : NULL) {
            share(reader, memory, name_in(reader, r), name_in(reader, operand));
            operand = many ? operand->next : operand;
        }
}

/* A graph that is only run: its results may show any of its operands. */
static bool is_wrapper(const char *target)
{
    return ti_text_starts(target, "higher_order.wrap");
}

void ti_pt2_memory(tc_pt2 *reader, const tc_json *graph, tc_map *memory)
{
    ti_map_init(memory, &reader->work);
    for (const tc_json *node = ti_json_first(ti_json_get(graph, "nodes")); node;
         node = node->next) {
        tc_pt2_writes writes;
        const char *target = ti_pt2_target(reader, node);
        const tc_pt2_row *row = ti_pt2_find_row(reader, target, &writes);
        bool list;
        const tc_json *operand = ti_pt2_first_tensor(node, &list);
        if (!row || row->shows || writes == TC_PT2_FIRST)
            share_results(reader, memory, node, operand, list);
        const tc_json *written;
        for (int k = 0; writes == TC_PT2_LAST && (written = ti_pt2_written(reader, node, k)); k++) {
            const tc_json *out = ti_json_first(ti_json_get(node, "outputs"));
            for (int i = 0; out && i < k; i++)
                out = out->next;
            share(reader, memory, name_in(reader, first_tensor(out, &list)),
                  name_in(reader, written));
        }
        const tc_json *arg = ti_json_first(ti_json_get(node, "inputs"));
        for (; arg && is_wrapper(target); arg = arg->next)
            for (operand = first_tensor(ti_json_get(arg, "arg"), &list); operand;
                 operand = list ? operand->next : NULL)
                share_results(reader, memory, node, operand, false);
    }
}

bool ti_pt2_is_in_place(const char *target)
{
    const char *dot = strrchr(target, '.');
    return dot && dot > target && dot[-1] == '_';
}

static bool graph_writes(tc_pt2 *reader, const tc_json *graph, int depth)
{
    const tc_json *node = ti_json_first(ti_json_get(graph, "nodes"));
    for (; node && depth < 16; node = node->next) {
        tc_pt2_writes writes;
        ti_pt2_find_row(reader, ti_pt2_target(reader, node), &writes);
        if (writes)
            return true;
        const tc_json *arg = ti_json_first(ti_json_get(node, "inputs"));
        for (; arg; arg = arg->next) {
            const tc_json *inner = ti_json_get(ti_json_get(arg, "arg"), "as_graph");
            if (inner && graph_writes(reader, ti_json_get(inner, "graph"), depth + 1))
                return true;
        }
    }
    return false;
}

static const tc_json *wrapped_graph(const tc_json *node)
{
    for (const tc_json *arg = ti_json_first(ti_json_get(node, "inputs")); arg; arg = arg->next) {
        const tc_json *inner = ti_json_get(ti_json_get(arg, "arg"), "as_graph");
        if (inner)
            return ti_json_get(inner, "graph");
    }
    return NULL;
}

/* Tensor k among a node's operands. */
static const tc_json *operand_at(const tc_json *node, int k)
{
    bool list;
    for (const tc_json *arg = ti_json_first(ti_json_get(node, "inputs")); arg; arg = arg->next)
        for (const tc_json *t = first_tensor(ti_json_get(arg, "arg"), &list); t;
             t = list ? t->next : NULL)
            if (k-- == 0)
                return t;
    return NULL;
}

static const tc_json *argument_named(tc_pt2 *reader, const tc_json *node, const char *name)
{
    const tc_json *arg = ti_json_first(ti_json_get(node, "inputs"));
    while (arg && !ti_str_is(name_in(reader, arg), name))
        arg = arg->next;
    return ti_json_get(arg, "arg");
}

const tc_json *ti_pt2_statistics(tc_pt2 *reader, const tc_json *node, int k)
{
    static const char *const name[] = {"running_mean", "running_var"};
    bool training = false, list;
    ti_json_bool(ti_json_get(argument_named(reader, node, "training"), "as_bool"), &training);
    return training && k < 2 ? first_tensor(argument_named(reader, node, name[k]), &list) : NULL;
}

const tc_json *ti_pt2_written(tc_pt2 *reader, const tc_json *node, int k)
{
    bool list;
    tc_pt2_writes writes;
    const char *target = ti_pt2_target(reader, node);
    const tc_json *inputs = ti_json_get(node, "inputs"), *outputs = ti_json_get(node, "outputs");
    ti_pt2_find_row(reader, target, &writes);
    if (writes == TC_PT2_FIRST)
        return k == 0 ? first_tensor(argument_at(node, 0), &list) : NULL;
    if (writes == TC_PT2_LAST && ti_json_is(inputs, TC_JSON_LIST) &&
        ti_json_is(outputs, TC_JSON_LIST) && outputs->n <= inputs->n)
        return (uint32_t)k < outputs->n
                   ? first_tensor(argument_at(node, (int)(inputs->n - outputs->n) + k), &list)
                   : NULL;
    if (is_wrapper(target))
        return graph_writes(reader, wrapped_graph(node), 0) ? operand_at(node, k) : NULL;
    return ti_pt2_statistics(reader, node, k);
}
