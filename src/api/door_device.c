/* SPDX-License-Identifier: Apache-2.0 */
/* door_device.c -- a context's Ethos-U regions on a Linux device: each is loaded when it runs first. */
#include <stdio.h>

#include "tosac/device.h"

#include "../base/enter.h"
#include "../num/call.h"
#include "../num/type.h"

enum { MILLISECONDS = 60000 };

typedef struct loaded {
    const void *payload; /* of a program's constant, which stays where it is */
    tc_device_program *program;
    struct loaded *next;
} loaded;

typedef struct device_link {
    tc_device_link link;
    tc_arena *arena;
    tc_device *device;
    loaded *first;
} device_link;

static tc_device_program *program_of(device_link *l, const tc_tensor *payload)
{
    for (const loaded *at = l->first; at; at = at->next)
        if (at->payload == payload->data)
            return at->program;
    tc_device_program *program;
    if (tc_device_load(l->device, payload->data, tc_type_bytes(payload->type), &program))
        return NULL;
    loaded *new = tc_new(l->arena, loaded);
    *new = (loaded){payload->data, program, l->first};
    l->first = new;
    return program;
}

static bool put_inputs(const tc_device_program *p, const tc_call *call)
{
    bool fits = true;
    for (int i = 1; i < call->n_in && fits; i++) {
        size_t bytes;
        void *to = tc_device_input(p, (size_t)i - 1, &bytes);
        fits = to && call->in[i].type && bytes == tc_type_bytes(call->in[i].type);
        if (fits)
            memcpy(to, call->in[i].data, bytes);
    }
    return fits;
}

static bool get_outputs(const tc_device_program *p, const tc_call *call)
{
    bool fits = true;
    for (int i = 0; i < call->n_out && fits; i++) {
        size_t bytes;
        const void *from = tc_device_output(p, (size_t)i, &bytes);
        fits = from && bytes == tc_type_bytes(call->out[i].type);
        if (fits)
            memcpy(call->out[i].data, from, bytes);
    }
    return fits;
}

static void run(tc_device_link *link, tc_call *call)
{
    device_link *l = (device_link *)link;
    if (!call->in[0].type) {
        call->error = "there is no program";
        return;
    }
    tc_device_program *p = program_of(l, &call->in[0]);
    if (!p) {
        call->error = tc_device_error(l->device);
        return;
    }
    if (!put_inputs(p, call))
        call->error = "the program has an input of another size";
    else if (tc_device_run(p, MILLISECONDS))
        call->error = tc_device_error(l->device);
    else if (!get_outputs(p, call))
        call->error = "the program has an output of another size";
}

static void close_device(void *link)
{
    tc_device_close(((device_link *)link)->device);
}

static tc_status use_device(tc_ctx *ctx, const char *path)
{
    device_link *l = tc_new(&ctx->arena, device_link);
    *l = (device_link){.link = {run}, .arena = &ctx->arena};
    int code = tc_device_open(path, &l->device);
    if (l->device)
        ti_ctx_defer(ctx, close_device, l);
    if (code)
        return ti_error(ctx, NULL, TC_E_TOOL, "%s",
                        l->device ? tc_device_error(l->device) : "out of memory");
    ctx->device = &l->link;
    return TC_OK;
}

tc_status tc_ctx_use_device(tc_ctx *ctx, const char *path)
{
    TC_ENTER(ctx, use_device(ctx, path));
}
