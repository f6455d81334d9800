/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_signal.c -- TFLM's audio operators give what TensorFlow Lite Micro gave, number by number, over
 * several calls in order; of frames only those that it said are valid, of energies those it made
 * (tools/peer/tflm_signal.py records the files, with zeros for the others).  Damaged options are
 * refused. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "read/read.h"
#include "tosac/tosac.h"
#include "wire/npy.h"

enum { MOST = 4, BYTES = 1 << 16, CASES = 42 };
#define FOLDER TOSAC_FIXTURES "/signal/"

/* The array of that name; NULL: there is none. */
static tc_npy *named(tc_npy *array, size_t n, const char *what, size_t i)
{
    char name[40];
    snprintf(name, sizeof name, "%s_%zu", what, i);
    for (size_t k = 0; k < n; k++)
        if (!strcmp(array[k].name, name))
            return &array[k];
    return NULL;
}

/* Its part of one call. */
static size_t call_of(tc_ctx *ctx, tc_npy *array, int64_t call, void *out)
{
    int64_t each = array->count / array->dim[0];
    CHECK((size_t)each * array->size <= BYTES &&
          ti_npy_read(ctx, array, call * each, each, out) == TC_OK);
    return (size_t)each * array->size;
}

static void compare(tc_ctx *ctx, tc_program *program, tc_npy *array, size_t n, int64_t call)
{
    static uint8_t want[BYTES], got[BYTES];
    bool valid = true;
    tc_npy *second = named(array, n, "want", 1);
    if (second && second->kind == 'b') {
        call_of(ctx, second, call, want);
        valid = want[0];
    }
    for (size_t i = 0; named(array, n, "want", i); i++) {
        tc_npy *w = named(array, n, "want", i);
        tc_tensor y = tc_program_result(program, i);
        size_t bytes = call_of(ctx, w, call, want);
        CHECK(bytes == tc_type_bytes(y.type));
        memcpy(got, y.data, bytes);
        CHECK((!valid && i == 0) || !memcmp(got, want, bytes));
    }
}

static void try(const char *name, bool reference)
{
    char model_path[400], data[400];
    tc_ctx *ctx = tc_ctx_new();
    tc_model *model;
    tc_program *program;
    tc_npy *array = NULL;
    size_t n = 0;
    snprintf(model_path, sizeof model_path, FOLDER "%s", name);
    snprintf(data, sizeof data, FOLDER "%.*s.npz", (int)(strlen(name) - strlen(".tflite")), name);
    tc_ctx_set_reference_kernels(ctx, reference);
    tc_model_options options = tc_model_options_default();
    CHECK(tc_model_open(ctx, model_path, &options, &model) == TC_OK &&
          tc_program_new(ctx, model, NULL, &program) == TC_OK &&
          ti_npy_open(ctx, data, &array, &n) == TC_OK);
    for (int64_t call = 0; n && call < named(array, n, "want", 0)->dim[0]; call++) {
        for (size_t i = 0; i < tc_program_input_count(program); i++)
            call_of(ctx, named(array, n, "in", i), call, tc_program_input_buffer(program, i));
        CHECK(tc_program_run(program) == TC_OK);
        compare(ctx, program, array, n, call);
    }
    tc_ctx_free(ctx);
}

/* Every byte of a small file changed in turn: read or refused, nothing else. */
static void damage(const char *name)
{
    char path[400];
    static uint8_t bytes[BYTES];
    snprintf(path, sizeof path, FOLDER "%s", name);
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    CHECK(file && size && size < sizeof bytes);
    if (file)
        fclose(file);
    for (size_t i = 0; i < size; i += 3) {
        tc_ctx *ctx = tc_ctx_new();
        tc_model *model;
        uint8_t was = bytes[i];
        bytes[i] = (uint8_t)(was ^ 0xa5);
        tc_model_options options = tc_model_options_default();
        tc_status status = tc_model_read(ctx, name, (tc_bytes){bytes, size}, &options, &model);
        CHECK(status != TC_BUG);
        bytes[i] = was;
        tc_ctx_free(ctx);
    }
}

int main(void)
{
    int n = 0;
    DIR *folder = opendir(FOLDER);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        size_t length = strlen(e->d_name);
        if (length < 9 || strcmp(e->d_name + length - 7, ".tflite") != 0)
            continue;
        n++;
        try(e->d_name, false);
        try(e->d_name, true);
        if (strstr(e->d_name, "_0."))
            damage(e->d_name);
    }
    CHECK(n == CASES);
    if (folder)
        closedir(folder);
    return check_done();
}
