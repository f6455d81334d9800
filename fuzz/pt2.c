/* SPDX-License-Identifier: Apache-2.0 */
/* pt2.c -- any bytes as a .pt2 file: an answer or a message, and memory given back.
 *
 * An input that is no archive is put into one: text that begins with '{' as the program of a
 * torch 2.13 file with a few weights, anything else as the pickle of a torch 2.6 file. */
#include "fuzz.h"

#include <stdlib.h>

#include "../test/unit/zipped.h"
#include "read/read.h"

#define META(sizes, strides)                                                                       \
    "{\"dtype\":7,\"sizes\":" sizes ",\"strides\":" strides                                        \
    ",\"storage_offset\":{\"as_int\":0},\"layout\":7}"

static const char config[] =
    "{\"config\":{\"w\":{\"path_name\":\"weight_0\",\"is_param\":true,\"use_pickle\":false,"
    "\"tensor_meta\":" META("[{\"as_int\":2},{\"as_int\":3}]",
                            "[{\"as_int\":1},{\"as_int\":2}]") "}}}";

static tc_bytes around_program(tc_arena *arena, const uint8_t *data, size_t size)
{
    static const float weights[6] = {1, 2, 3, 4, 5, 6};
    zipped z;
    zipped_begin(&z, arena);
    zipped_add(&z, "m/data/weights/weight_0", weights, sizeof weights);
    zipped_text(&z, "m/data/weights/model_weights_config.json", config);
    zipped_add(&z, "m/models/model.json", data, size);
    zipped_text(&z, "m/archive_format", "pt2");
    return zipped_end(&z);
}

static tc_bytes around_pickle(tc_arena *arena, const uint8_t *data, size_t size)
{
    static const char program[] =
        "{\"schema_version\":{\"major\":8,\"minor\":2},\"graph_module\":{\"graph\":{\"inputs\":[{"
        "\"as_tensor\":{\"name\":"
        "\"p_w\"}}],\"outputs\":[{\"as_tensor\":{\"name\":\"p_w\"}}],\"nodes\":[],\"tensor_"
        "values\":{}},\"signature\":{"
        "\"input_specs\":[{\"parameter\":{\"arg\":{\"name\":\"p_w\"},\"parameter_name\":\"w\"}}],"
        "\"output_specs\":[{"
        "\"user_output\":{\"arg\":{\"as_tensor\":{\"name\":\"p_w\"}}}}]}}}";
    static const float numbers[6] = {1, 2, 3, 4, 5, 6};
    zipped inner, z;
    zipped_begin(&inner, arena);
    zipped_add(&inner, "archive/data.pkl", data, size);
    zipped_add(&inner, "archive/data/0", numbers, sizeof numbers);
    tc_bytes saved = zipped_end(&inner);
    zipped_begin(&z, arena);
    zipped_text(&z, "serialized_exported_program.json", program);
    zipped_add(&z, "serialized_state_dict.pt", saved.data, saved.size);
    return zipped_end(&z);
}

/* A failure has a message, and is never our own mistake. */
static void body(tc_ctx *ctx, tc_bytes bytes)
{
    tc_module *module = NULL;
    if (bytes.size && bytes.data[0] == '{')
        bytes = around_program(&ctx->arena, bytes.data, bytes.size);
    else if (!bytes.size || bytes.data[0] != 'P')
        bytes = around_pickle(&ctx->arena, bytes.data, bytes.size);
    tc_status status = ti_read_pt2(ctx, "fuzz.pt2", bytes, &module);
    if (status == TC_BUG || (status != TC_OK) != (ctx->n_error > 0) || (status == TC_OK && !module))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_context(body, (tc_bytes){data, size}, (size_t)256 << 20);
    return 0;
}
