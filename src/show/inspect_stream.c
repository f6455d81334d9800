/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_stream.c -- command streams, one line an operation. */
#include "inspect.h"

#include "../npu/npu_text.h"
#include "../base/json_out.h"
#include "../cost/stream.h"

typedef struct change {
    tc_buf *text;
    tc_json_out *json;
    int n;
} change;

static void put_change(void *user, const char *name, bool wide, uint16_t param, uint32_t payload)
{
    change *c = user;
    if (c->json)
        ti_json_put_int(c->json, name, wide ? (int64_t)((uint64_t)param << 32 | payload) : param);
    else if (wide && param)
        ti_buf_printf(c->text, "%s%s=%#x:%#x", c->n++ ? " " : "", name, param, payload);
    else
        ti_buf_printf(c->text, "%s%s=%#x", c->n++ ? " " : "", name, wide ? payload : param);
}

/* What is printed of an operation. */
typedef struct told {
    const tc_stream *s;
    const tc_npu_walk *walk;
    const tc_npu_op *op;
    const char *node;
    const tc_npu_cost *cost; /* NULL: it has none */
} told;

/* word, number, cycles, what it does ; the operator it comes from | the registers that were set */
static void show_op(tc_buf *to, const told *t, tc_buf *line)
{
    const tc_npu_op *op = t->op;
    const tc_npu_machine *machine = t->s->program.machine;
    line->size = 0;
    ti_npu_op_text(line, machine, op);
    if (t->node)
        ti_buf_printf(line, " ; %s", t->node);
    ti_buf_text(line, " | ");
    change c = {.text = line};
    size_t before = line->size;
    if (ti_npu_is_kernel(op->kind) || op->kind == TC_NPU_KIND_DMA)
        ti_npu_changes(machine, &t->walk->reg, put_change, &c);
    if (line->size == before)
        line->size -= strlen(" | ");
    ti_buf_printf(to, "%7zu %5zu ", op->at, op->number);
    if (t->cost)
        ti_buf_printf(to, "%10.0f  %s\n", t->cost->cycles, ti_buf_cstr(line));
    else
        ti_buf_printf(to, "%10s  %s\n", "", ti_buf_cstr(line));
}

static void json_op(tc_ctx *ctx, const told *t, tc_buf *line, tc_json_out *out)
{
    const tc_npu_op *op = t->op;
    const tc_npu_machine *machine = t->s->program.machine;
    line->size = 0;
    ti_npu_op_text(line, machine, op);
    ti_json_open(out, NULL, '{');
    tc_json_put(out, TC_J("word", op->at), TC_J("operation", op->number),
                TC_J("name", ti_npu_op_name(&ctx->arena, op)), TC_J("text", ti_buf_cstr(line)));
    if (t->node)
        ti_json_put_text(out, "node", t->node);
    if (t->cost)
        tc_json_put(out, TC_J("cycles", t->cost->cycles), TC_J("macs", t->cost->macs),
                    TC_J("utilisation", ti_npu_utilisation(machine, t->cost)));
    if ((op->kind == TC_NPU_KIND_CONV && !op->weights_ifm2) || op->kind == TC_NPU_KIND_DEPTHWISE) {
        uint64_t encoded, plain;
        ti_npu_weight_bytes(op, &encoded, &plain);
        tc_json_put(out, TC_J("weight_bytes", encoded), TC_J("weights", plain));
    }
    if (ti_npu_is_kernel(op->kind) || op->kind == TC_NPU_KIND_DMA) {
        ti_json_open(out, "set", '{');
        ti_npu_changes(machine, &t->walk->reg, put_change, &(change){.json = out});
        ti_json_close(out, '}');
    }
    ti_json_close(out, '}');
}

static void json_head(const tc_stream *s, const tc_npu_system *system, const tc_npu_cost *total,
                      tc_json_out *out)
{
    const tc_npu_program *p = &s->program;
    ti_json_open(out, NULL, '{');
    tc_json_put(out, TC_J("name", s->name), TC_J("machine", p->machine->name),
                TC_J("vela", s->vela), TC_J_IF("tosac", s->own), TC_J("words", p->words.n),
                TC_J("constant_bytes", p->weights.size), TC_J("scratch_bytes", p->scratch),
                TC_J("system_config", system->config), TC_J("memory_mode", system->mode),
                TC_J("cycles", total->cycles), TC_J("macs", total->macs));
    ti_json_open(out, "operations", '[');
}

static void show_head(const tc_stream *s, const tc_npu_system *system, const tc_npu_cost *total,
                      tc_buf *to)
{
    const tc_npu_program *p = &s->program;
    ti_buf_printf(to, "%s: %s, %zu words, %zu bytes of constants, %" PRId64 " of scratch%s%s\n",
                  s->name, p->machine->name, p->words.n, p->weights.size, p->scratch,
                  s->vela  ? ", by Vela "
                  : s->own ? ", by tosac "
                           : "",
                  s->vela  ? s->vela
                  : s->own ? s->own
                           : "");
    ti_buf_printf(
        to,
        "%.0f cycles expected, %.3f ms, %.1f %% of the MACs in use (%s, %s)\n%7s %5s %10s  %s\n",
        total->cycles, 1e3 * total->cycles / system->clock,
        100 * ti_npu_utilisation(p->machine, total), system->config, system->mode, "word", "",
        "cycles", "operation");
}

static tc_status put_stream(tc_ctx *ctx, const tc_stream *s, tc_json_out *out, tc_buf *to)
{
    const tc_npu_program *p = &s->program;
    tc_npu_walk walk;
    tc_npu_op op;
    tc_npu_system system = {.clock = 1};
    tc_npu_stream_cost cost = {0};
    tc_buf line;
    size_t next = 0;
    ti_buf_init(&line, &ctx->arena);
    tc_status known = ti_stream_cost(ctx, s, NULL, NULL, NULL, &system,
                                     &cost); /* the first error is printed */
    if (out)
        json_head(s, &system, &cost.total, out);
    else
        show_head(s, &system, &cost.total, to);
    ti_npu_walk_begin(&walk, p->machine, p->words);
    while (ti_npu_walk_next(&walk, &op)) {
        bool has = next < cost.n_op && cost.op[next].at == op.at;
        const tc_loc *loc = ti_stream_loc(s, op.at);
        told t = {s, &walk, &op, loc ? loc->node : NULL, has ? &cost.op[next].cost : NULL};
        next += has;
        if (out)
            json_op(ctx, &t, &line, out);
        else
            show_op(to, &t, &line);
    }
    if (out) {
        ti_json_close(out, ']');
        ti_json_close(out, '}');
    }
    return known;
}

tc_status ti_inspect_streams(tc_ctx *ctx, const char *path, tc_bytes bytes, bool json, tc_buf *to)
{
    tc_stream *stream;
    size_t n;
    if (!ti_streams_in(bytes))
        return ti_usage(ctx, "%s has no Ethos-U command stream", path);
    TC_TRY(ti_streams_read(ctx, path, bytes, &stream, &n));
    if (!n)
        return ti_usage(ctx, "%s has no Ethos-U command stream", path);
    tc_json_out out = {.to = to};
    tc_status worst = TC_OK;
    if (json)
        ti_json_open(&out, NULL, '[');
    for (size_t i = 0; i < n; i++) {
        tc_status status = put_stream(ctx, &stream[i], json ? &out : NULL, to);
        worst = worst ? worst : status;
    }
    if (json)
        ti_json_close(&out, ']');
    return worst;
}
