/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c -- tosac explain: what goes where, and why. */
#include "../compile.h"

#include <stdio.h>

#include "cli.h"
#include "json.h"

typedef struct explain_options {
    const char *target, *config, *cpu;
    tc_texts calib;
} explain_options;

/* What crosses a region's border, and what it is made of. */
typedef struct border {
    int64_t bytes_in, bytes_out;
    size_t n_tosa, n_transpose;
} border;

static border border_of(const tc_region *region)
{
    border b = {0};
    const tc_graph *body = tc_main(region->module);
    for (size_t i = 0; i < body->n_in; i++)
        b.bytes_in += (int64_t)tc_type_bytes(tc_type_of(body, body->in[i]));
    for (size_t i = 0; i < body->n_out; i++)
        b.bytes_out += (int64_t)tc_type_bytes(tc_type_of(body, body->out[i]));
    for (size_t k = 0; k < body->n_node; k++) {
        b.n_tosa += body->node[k]->op != TC_OP_const;
        b.n_transpose += body->node[k]->op == TC_OP_tosa_transpose;
    }
    return b;
}

static const char *place_of(const tc_node *node)
{
    return node->loc->place ? node->loc->place : "";
}

static const char *name_of(const tc_node *node)
{
    return node->loc->node ? node->loc->node : tc_ops[node->op].name;
}

static void as_text(const tc_compiled *c)
{
    size_t nodes = 0;
    for (size_t i = 0; i < c->split.n_region; i++)
        nodes += c->split.nodes[i];
    printf("%s: %zu of %zu operators in %zu region%s\n", c->target.text, nodes, nodes + c->split.n_left, c->n_region,
           c->n_region == 1 ? "" : "s");
    for (size_t i = 0; i < c->split.n_region; i++) {
        border b = border_of(&c->region[i]);
        printf("  %-12s %4zu operators, %4zu of TOSA, %zu transpose%s, %" PRId64 " bytes in, %" PRId64 " bytes out\n",
               c->region[i].name, c->split.nodes[i], b.n_tosa, b.n_transpose, b.n_transpose == 1 ? "" : "s", b.bytes_in, b.bytes_out);
    }
    if (c->split.n_left)
        printf("on the CPU: %zu\n", c->split.n_left);
    for (size_t i = 0; i < c->split.n_left; i++) {
        const tc_split_left *l = &c->split.left[i];
        printf("  %-28s %-16s %s%s%s\n", name_of(l->node), tc_ops[l->node->op].name, place_of(l->node),
               *place_of(l->node) ? ": " : "", l->why);
    }
}

static void put_types(tc_json_out *out, const char *name, tc_ctx *ctx, const tc_graph *g, const tc_val *v, size_t n)
{
    tc_json_open(out, name, '[');
    for (size_t i = 0; i < n; i++)
        tc_json_put_text(out, NULL, tc_type_text(&ctx->arena, tc_type_of(g, v[i])));
    tc_json_close(out, ']');
}

static void as_json(tc_ctx *ctx, const tc_compiled *c)
{
    tc_json_out out = {0};
    tc_json_open(&out, NULL, '{');
    tc_json_put_text(&out, "target", c->target.text);
    tc_json_open(&out, "regions", '[');
    for (size_t i = 0; i < c->split.n_region; i++) {
        border b = border_of(&c->region[i]);
        const tc_graph *g = tc_main(c->region[i].module);
        tc_json_open(&out, NULL, '{');
        tc_json_put_text(&out, "name", c->region[i].name);
        tc_json_put_int(&out, "operators", (int64_t)c->split.nodes[i]);
        tc_json_put_int(&out, "tosa_operators", (int64_t)b.n_tosa);
        tc_json_put_int(&out, "transposes", (int64_t)b.n_transpose);
        tc_json_put_int(&out, "bytes_in", b.bytes_in);
        tc_json_put_int(&out, "bytes_out", b.bytes_out);
        put_types(&out, "inputs", ctx, g, g->in, g->n_in);
        put_types(&out, "outputs", ctx, g, g->out, g->n_out);
        tc_json_close(&out, '}');
    }
    tc_json_close(&out, ']');
    tc_json_open(&out, "cpu", '[');
    for (size_t i = 0; i < c->split.n_left; i++) {
        const tc_split_left *l = &c->split.left[i];
        tc_json_open(&out, NULL, '{');
        tc_json_put_text(&out, "node", name_of(l->node));
        tc_json_put_text(&out, "operator", tc_ops[l->node->op].name);
        tc_json_put_text(&out, "place", place_of(l->node));
        tc_json_put_text(&out, "why", l->why);
        tc_json_close(&out, '}');
    }
    tc_json_close(&out, ']');
    tc_json_close(&out, '}');
}

static tc_status run_explain(tc_ctx *ctx, const tc_common *common, const void *record, const tc_texts *args)
{
    static const char *const invented[] = {"random:1"};
    const explain_options *o = record;
    if (!o->target)
        return tc_usage(ctx, "-t TARGET is missing: TOSA-1.0+INT, vgf, ethos-u85-256, cpu ...");
    tc_texts cpu = {0};
    tc_cli_names(ctx, o->cpu, &cpu);
    /* Where nodes go does not depend on the ranges, so invented numbers do. */
    tc_compile_request r = {.model = args->v[0], .target = o->target, .config = o->config,
                            .calib = o->calib.n ? o->calib.v : (const char *const *)invented, .n_calib = o->calib.n ? o->calib.n : 1,
                            .calib_only_if_needed = !o->calib.n, .cpu = cpu.v, .n_cpu = cpu.n};
    tc_compiled c;
    TC_TRY(tc_compile(ctx, &r, &c));
    if (common->json)
        as_json(ctx, &c);
    else
        as_text(&c);
    return TC_OK;
}

#define AT(field) offsetof(explain_options, field)
static const tc_option options[] = {
    {"--target", "-t", "TARGET", TC_OPTION_TEXT, AT(target), "TOSA-1.0+INT, TOSA-1.0+FP, vgf, ethos-u85-256, cpu, ..."},
    {"--calib", NULL, "DATA", TC_OPTION_TEXTS, AT(calib), "calibration data; without, numbers are invented: only the ranges follow from them"},
    {"--quant", "-q", "CONFIG", TC_OPTION_TEXT, AT(config), "int8, int8+16:K, a16w8, a8w4, none, anchor, or a JSON file"},
    {"--cpu", NULL, "NODES", TC_OPTION_TEXT, AT(cpu), "names or operators that stay on the CPU, comma-separated"},
    {0},
};

const tc_verb tc_cli_explain = {
    .name = "explain",
    .arguments = "MODEL -t TARGET",
    .summary = "tell what goes where, and why",
    .help = "Prints the regions that the target takes, what crosses their borders, and for every operator that stays\n"
            "on the CPU the reason and its line of Python.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(explain_options),
    .run = run_explain,
};
