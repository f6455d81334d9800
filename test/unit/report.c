/* SPDX-License-Identifier: Apache-2.0 */
/* report.c -- the layout of a report's graph: boxes depend in one direction, every edge goes down,
 * everything has one place. */
#include "check.h"

#include "base/diag.h"
#include "report/report_layout.h"

typedef struct graph {
    tc_layout_node node[4096];
    uint32_t in[4096][4];
    size_t n;
} graph;

static graph g;

static uint32_t add(const char *module, size_t n_in, const uint32_t *in)
{
    tc_layout_node *node = &g.node[g.n];
    memcpy(g.in[g.n], in, n_in * sizeof *in);
    *node = (tc_layout_node){.module = module, .in = g.in[g.n], .n_in = n_in};
    return (uint32_t)g.n++;
}

/* Every item stands in one row, every edge goes from a row to a later one, and passes the rows
 * between. */
static bool in_order(const tc_layout_group *group)
{
    size_t seen[4096] = {0}, row_of[4096] = {0}, passed[4096] = {0};
    for (size_t r = 0; r < group->n_row; r++)
        for (size_t k = 0; k < group->n_in_row[r]; k++) {
            int32_t what = group->row[r][k];
            if (what < 0) {
                passed[-1 - what]++;
                continue;
            }
            seen[what]++;
            row_of[what] = r;
        }
    for (size_t i = 0; i < group->n_item; i++)
        if (seen[i] != 1)
            return false;
    for (size_t e = 0; e < group->n_edge; e++) {
        size_t from = row_of[group->edge[e].from], to = row_of[group->edge[e].to];
        if (from >= to || (passed[e] && passed[e] != to - from - 1))
            return false;
    }
    return true;
}

static tc_layout laid_out(tc_ctx *ctx)
{
    tc_layout l = ti_layout_make(&ctx->arena, &ctx->scratch, g.node, g.n);
    size_t nodes = 0;
    for (size_t i = 0; i < l.n_group; i++) {
        CHECK(in_order(&l.group[i]));
        for (size_t k = 0; k < l.group[i].n_item; k++)
            nodes += l.group[i].item[k] >= 0;
    }
    CHECK(nodes == g.n);
    return l;
}

/* A module that is entered a second time is a second box. */
static void test_entered_again(tc_ctx *ctx)
{
    g.n = 0;
    uint32_t x = add("", 0, (uint32_t[]){0});
    uint32_t a = add("block.conv", 1, &x), b = add("block.act", 1, &a);
    uint32_t c = add("block.act", 1, &b), d = add("other", 1, &c), e = add("other", 1, &d);
    uint32_t f = add("block.act", 1, &e);
    add("block.act", 2, (uint32_t[]){f, b});
    tc_layout l = laid_out(ctx);
    size_t acts = 0;
    for (size_t i = 0; i < l.n_group; i++)
        acts += strcmp(l.group[i].path, "block.act") == 0;
    CHECK(acts == 2);
}

/* A box around one thing is no box; around one box it lends its name. */
static void test_lonely(tc_ctx *ctx)
{
    g.n = 0;
    uint32_t x = add("", 0, (uint32_t[]){0});
    uint32_t a = add("a.b.c", 1, &x), b = add("a.b.c", 1, &a);
    add("d", 1, &b);
    tc_layout l = laid_out(ctx);
    CHECK(l.n_group == 2);
    CHECK(strcmp(l.group[1].name, "a.b.c") == 0);
    CHECK(l.group[0].n_item == 3);
}

/* Two chains that are given crosswise end up without a crossing. */
static void test_uncrossed(tc_ctx *ctx)
{
    g.n = 0;
    uint32_t x = add("", 0, (uint32_t[]){0}), y = add("", 0, (uint32_t[]){0});
    uint32_t a = add("", 1, &y), b = add("", 1, &x);
    tc_layout l = laid_out(ctx);
    const tc_layout_group *root = &l.group[0];
    CHECK(root->n_row == 2 && root->n_in_row[0] == 2 && root->n_in_row[1] == 2);
    bool x_left = root->row[0][0] == (int32_t)x, b_left = root->row[1][0] == (int32_t)b;
    CHECK(x_left == b_left);
    (void)a;
}

/* Anything that has an order can be laid out. */
static void test_any(tc_ctx *ctx)
{
    static const char *const module[] = {"",      "a",     "a.b",   "a.b.c", "a.d", "e",
                                         "e.f.g", "e.f.h", "a.b.c", NULL,    "..",  "a..b"};
    uint64_t seed = 5;
    for (int round = 0; round < 200; round++) {
        size_t n = 1 + (size_t)round * 3;
        g.n = 0;
        for (size_t k = 0; k < n; k++) {
            uint32_t in[4];
            size_t n_in = 0;
            for (int i = 0; i < 4 && k; i++) {
                seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                if (seed >> 62)
                    in[n_in++] = (uint32_t)((seed >> 33) % k);
            }
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            add(module[(seed >> 33) % TC_COUNT(module)], n_in, in);
        }
        laid_out(ctx);
    }
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_entered_again(ctx);
    test_lonely(ctx);
    test_uncrossed(ctx);
    test_any(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
