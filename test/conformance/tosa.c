/* SPDX-License-Identifier: Apache-2.0 */
/* tosa.c -- goes through an unpacked TOSA suite in process: conformance-tosa DIR [PREFIX]
 *
 * A negative case must be refused with status 1, a positive one accepted.  One of version 1.1 must be
 * met with status 3 and the words "TOSA 1.1", unless its file says 1.0 and is good.  Prints what
 * differs and a line of totals. */
#include <jansson.h>
#include <stdio.h>

#include "read/read.h"
#include "target/target.h"
#include "wire/file.h"

typedef struct {
    const char *name;
    int right, all;
} total;

static tc_status verify(tc_ctx *ctx, const char *path)
{
    tc_bytes bytes;
    tc_module *module;
    TC_TRY(tc_file_map(ctx, path, &bytes));
    TC_TRY(tc_read_tosa(ctx, path, bytes, &module));
    return tc_verify_tosa(ctx, module, NULL);
}

static bool expects_failure(const char *desc)
{
    json_t *json = json_load_file(desc, JSON_DECODE_INT_AS_REAL, NULL);
    bool negative = json_is_true(json_object_get(json, "expected_failure"));
    json_decref(json);
    return negative;
}

static void try_case(const char *folder, const char *name, total totals[3])
{
    tc_ctx *ctx = tc_ctx_new();
    const char *file = tc_text_format(&ctx->arena, "%s/%s/test.tosa", folder, name);
    bool negative = expects_failure(tc_text_format(&ctx->arena, "%s/%s/desc.json", folder, name));
    bool newer = tc_text_starts(name, "1.1");
    tc_status status = verify(ctx, file);
    tc_status want = newer && status ? TC_UNSUPPORTED : negative ? TC_BAD_MODEL : TC_OK;
    bool right = status == want && (!newer || !status || strstr(tc_diagnostics(ctx), "TOSA 1.1"));
    total *t = &totals[newer ? 2 : negative];
    t->all++;
    t->right += right;
    if (!right)
        printf("%s: status %d, expected %d\n%s", name, status, want, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: conformance-tosa DIR [PREFIX]\n");
        return 2;
    }
    total totals[3] = {{.name = "positive"}, {.name = "negative"}, {.name = "version 1.1"}};
    tc_ctx *ctx = tc_ctx_new();
    const char **name;
    size_t n;
    if (tc_folder_list(ctx, argv[1], &name, &n) != TC_OK) {
        fputs(tc_diagnostics(ctx), stderr);
        return 1;
    }
    for (size_t i = 0; i < n; i++)
        if (tc_text_starts(name[i], argc > 2 ? argv[2] : "1."))
            try_case(argv[1], name[i], totals);
    tc_ctx_free(ctx);
    bool good = true;
    for (int i = 0; i < 3; i++) {
        printf("%s%s %d/%d", i ? ", " : "", totals[i].name, totals[i].right, totals[i].all);
        good = good && totals[i].right == totals[i].all;
    }
    printf("\n");
    return !good;
}
