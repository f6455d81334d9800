/* SPDX-License-Identifier: Apache-2.0 */
/* road.c -- the road's order holds whatever its conditions are, another order is refused, and every
 * pass is on it. */
#include "check.h"

#include "drive/road.h"
#include "ir/ir_text.h"
#include "read/read.h"

enum { MOST = 64 };

typedef struct passes {
    const tc_pass *pass[MOST];
    size_t n;
} passes;

static const tc_pass *named(const char *name, size_t n)
{
    for (const tc_pass *p = tc_passes; p->name; p++)
        if (strlen(p->name) == n && !memcmp(p->name, name, n))
            return p;
    return NULL;
}

/* Lists are spelled out; a name that is none fails. */
static void spell(const char *text, passes *out)
{
    while (*text) {
        size_t n = strcspn(text, ",");
        const char *name = text;
        size_t length = n;
        const char *list = NULL;
        for (const tc_pass_list *l = tc_pass_lists; l->name; l++)
            if (strlen(l->name) == length && !memcmp(l->name, name, length))
                list = l->passes;
        const tc_pass *pass = list ? NULL : named(name, length);
        if (list)
            spell(list, out);
        CHECK(list || (pass && out->n < MOST));
        if (pass && out->n < MOST)
            out->pass[out->n++] = pass;
        text += n + (text[n] == ',');
    }
}

static passes steps[128]; /* by row of the road */

static size_t row_of(const char *point)
{
    size_t row = 0;
    while (!tc_road[row].name || strcmp(tc_road[row].name, point))
        row++;
    return row;
}

/* Facts behind the walk; bad: a pass did not find what it needs, of the facts in `seen`. */
static uint32_t walk(const char *from, const char *to, const bool *holds, uint32_t facts,
                     uint32_t seen, const tc_pass **bad)
{
    for (size_t row = row_of(from); row < row_of(to); row++)
        for (size_t i = 0; i < steps[row].n && ti_road_takes(row, holds); i++) {
            const tc_pass *p = steps[row].pass[i];
            if (p->needs & seen & ~facts)
                *bad = p;
            facts = (facts & ~p->breaks) | p->gives;
        }
    return facts;
}

/* The conditions that steps between two points ask. */
static uint32_t asked(const char *from, const char *to)
{
    uint32_t set = 0;
    for (size_t row = row_of(from); row < row_of(to); row++)
        for (const char *at = tc_road[row].when; at && *at; at += strspn(at, " !()&|")) {
            size_t n = strcspn(at, " !()&|");
            for (int i = 0; i < TC_WHEN_COUNT; i++)
                if (n == strlen(tc_road_conditions[i].name) &&
                    !memcmp(at, tc_road_conditions[i].name, n))
                    set |= 1u << i;
            at += n;
        }
    return set;
}

/* Facts at a point, with the conditions under which they hold there, of those that are asked later. */
typedef struct state {
    uint32_t facts, holds;
} state;

typedef struct states {
    state v[4096];
    size_t n;
} states;

static void add(states *to, state one)
{
    for (size_t i = 0; i < to->n; i++)
        if (!memcmp(&to->v[i], &one, sizeof one))
            return;
    CHECK(to->n < TC_COUNT(to->v));
    if (to->n < TC_COUNT(to->v))
        to->v[to->n++] = one;
}

/* Every combination of the conditions asked on the way that are not known before. */
static void walk_all(const char *from, const char *to, const states *start, uint32_t known,
                     uint32_t seen, uint32_t later, states *end, const tc_pass **bad)
{
    const uint32_t mine = asked(from, to) & ~known;
    for (size_t s = 0; s < start->n; s++)
        for (uint32_t set = mine, more = 1; more; more = set, set = (set - 1) & mine) {
            uint32_t all = start->v[s].holds | set;
            bool holds[TC_WHEN_COUNT];
            for (int i = 0; i < TC_WHEN_COUNT; i++)
                holds[i] = all >> i & 1u;
            uint32_t facts = walk(from, to, holds, start->v[s].facts, seen, bad);
            add(end, (state){facts, all & later});
        }
}

static void test_order(void)
{
    static const states read = {{{TC_FACT_TYPED | TC_FACT_RICH | TC_FACT_MODEL_INTS, 0}}, 1},
                        copy = {{{TC_FACT_TYPED, 0}}, 1};
    static states split, end;
    const uint32_t told = tc_facts_told | TC_FACT_TYPED, before = asked("READ", "SPLIT"),
                   later = asked("SPLIT", "PLANNED") | asked("REGION", "LEGAL");
    const tc_pass *bad = NULL;
    walk_all("READ", "SPLIT", &read, 0, told, later, &split, &bad);
    walk_all("SPLIT", "PLANNED", &split, before, told, 0, &end, &bad);
    walk_all("REGION", "LEGAL", &split, before, told | TC_FACT_TOSA_ONLY, 0, &end, &bad);
    walk_all("COPY", "RUNNABLE", &copy, 0, told, 0, &end, &bad);
    CHECK(asked("REGION", "LEGAL") >> TC_WHEN_SHAPES & 1u);
    CHECK(!bad);
    if (bad)
        fprintf(stderr, "the pass %s does not find what it needs\n", bad->name);
}

static void test_every_pass(void)
{
    for (const tc_pass *p = tc_passes; p->name; p++) {
        bool found = false;
        for (size_t row = 0; tc_road[row].name || tc_road[row].passes; row++)
            for (size_t i = 0; i < steps[row].n; i++)
                found = found || steps[row].pass[i] == p;
        CHECK(found);
        if (!found)
            fprintf(stderr, "the pass %s is not on the road\n", p->name);
    }
}

static const char sum[] = "graph @main(%0 \"x\": f32[1,4,4,8], %1 \"y\": f32[1,4,4,8]) {\n"
                          "  %2 = add %0, %1 alpha=1 : f32[1,4,4,8]\n"
                          "  return %2\n"
                          "}\n";

/* Passes in an order that the road has not: refused, for want of a fact. */
static void test_refused(const char *names, const char *fact)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m;
    tc_target target;
    CHECK(ti_target_parse(ctx, "TOSA-1.0+INT+FP", &target) == TC_OK);
    CHECK(ti_parse(ctx, "sum", (tc_bytes){(const uint8_t *)sum, sizeof sum - 1},
                   (tc_bytes){NULL, 0}, &m) == TC_OK);
    ti_main(m)->facts |= TC_FACT_RICH | TC_FACT_MODEL_INTS;
    CHECK(ti_run_list(ctx, m, names, &(tc_job){.target = &target}, NULL) == TC_USAGE);
    bool said = strstr(tc_diagnostics(ctx), fact) != NULL;
    CHECK(said);
    if (!said)
        fprintf(stderr, "%s: %s", names, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
}

/* The walk itself, to the file's form. */
static void test_walk(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m;
    tc_target target;
    tc_job job = {.target = &target};
    CHECK(ti_target_parse(ctx, "TOSA-1.0+FP", &target) == TC_OK);
    CHECK(ti_parse(ctx, "sum", (tc_bytes){(const uint8_t *)sum, sizeof sum - 1},
                   (tc_bytes){NULL, 0}, &m) == TC_OK);
    CHECK(ti_road_run(ctx, m, TC_AT_READ, TC_AT_WHOLE, &job, NULL) == TC_OK);
    CHECK(ti_road_run(ctx, m, TC_AT_REGION, TC_AT_LEGAL, &job, NULL) == TC_OK);
    CHECK(ti_main(m)->facts & TC_FACT_LEGAL && ti_main(m)->facts & TC_FACT_TOSA_ONLY);
    CHECK(!(ti_main(m)->facts & TC_FACT_RICH));
    tc_ctx_free(ctx);
}

static tc_status see(void *seen, const tc_module *module, const tc_pass *pass)
{
    (void)module;
    *(bool *)seen = *(bool *)seen || strcmp(pass->name, "fuse-qdq") == 0;
    return TC_OK;
}

/* What simulates quantized types is no arithmetic between dequantize and quantize. */
static void test_simulated(const char *type, bool fused)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m;
    bool seen = false;
    const char *text = ti_text_format(&ctx->arena,
                                      "graph @main(%%0 \"x\": %s) {\n"
                                      "  %%1 = relu %%0 : %s\n  return %%1\n}\n",
                                      type, type);
    CHECK(ti_parse(ctx, "relu", (tc_bytes){(const uint8_t *)text, strlen(text)},
                   (tc_bytes){NULL, 0}, &m) == TC_OK);
    CHECK(ti_road_run(ctx, m, TC_AT_COPY, TC_AT_RUNNABLE, NULL, &(tc_trace){see, &seen}) == TC_OK);
    CHECK(seen == fused);
    tc_ctx_free(ctx);
}

int main(void)
{
    for (size_t row = 0; tc_road[row].name || tc_road[row].passes; row++)
        if (tc_road[row].passes)
            spell(tc_road[row].passes, &steps[row]);
    test_order();
    test_every_pass();
    test_walk();
    test_simulated("f32[4]", true);
    test_simulated("i8[4] q(0.1:0)", false);
    test_refused("narrow-integers,split-double-rounding", "MODEL_INTS");
    test_refused("lower-to-tosa,fold-weight-scales", "RICH");
    test_refused("lower-to-tosa,unify-shapes", "CHANNELS_LAST");
    test_refused("lower-to-tosa,sink-transposes,merge-slices", "UNIFIED");
    test_refused("lower-to-tosa,sink-transposes,narrow-i64,unify-shapes", "CHANNELS_LAST");
    test_refused("quantize-control-flow", "ACCUMULATED");
    test_refused("fuse-batch-norm", "FOLDED");
    test_refused("split-regions,widen-accumulators", "WHOLE");
    test_refused("plan-memory", "KERNELS");
    return check_done();
}
