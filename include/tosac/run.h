/* SPDX-License-Identifier: Apache-2.0 */
/* run.h -- runs programs on this machine, with inputs and outputs bound by name or index.
 *
 * State is kept from run to run.  Memory does not grow with the number of runs. */
#ifndef TOSAC_RUN_H
#define TOSAC_RUN_H

#include "data.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_program tc_program;

typedef struct tc_program_options {
    size_t size; /* of this record */
} tc_program_options;
TC_SIZED_RECORD(tc_program_options)

/* From now on the context's programs run their Ethos-U regions on a Linux device (tosac/device.h), not in
 * the executor; path NULL: the first one.  TC_TOOL: there is none. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_ctx_use_device(tc_ctx *ctx, const char *path);

/* Prepares a model to run: simplifies it, plans its memory, packs its constants.  With reference
 * kernels it runs unchanged.
 *
 *   model    is not changed
 *   options  NULL for the defaults
 *   out      on TC_OK, the program; it lives as long as the context */
TC_API TC_MUST_USE tc_status tc_program_new(tc_ctx *ctx, const tc_model *model,
                                            const tc_program_options *options, tc_program **out);

/* Inputs and outputs, as tc_model_input() has them; false: no such index. */
TC_API size_t tc_program_input_count(const tc_program *program);
TC_API size_t tc_program_output_count(const tc_program *program);
TC_API bool tc_program_input(const tc_program *program, size_t i, tc_port_info *out);
TC_API bool tc_program_output(const tc_program *program, size_t i, tc_port_info *out);

/* The index of a name; -1: there is none. */
TC_API int tc_program_find_input(const tc_program *program, const char *name);
TC_API int tc_program_find_output(const tc_program *program, const char *name);

/* The program's own buffer for an input, to fill before a run; its contents are kept.  NULL: no
 * such index, or out of memory. */
TC_API void *tc_program_input_buffer(tc_program *program, size_t i);

/* Binds the caller's memory instead: an input is read from it on every run, an output is copied to
 * it after each.  At least tc_type_bytes() of the type, valid as long as it is bound; NULL unbinds.
 * TC_USAGE: no such index. */
TC_API TC_MUST_USE tc_status tc_program_bind_input(tc_program *program, size_t i, const void *data);
TC_API TC_MUST_USE tc_status tc_program_bind_output(tc_program *program, size_t i, void *data);

/* Opens a dataset for the program's inputs, as tc_dataset_bind() does for a model's.  A typed model
 * runs as float arithmetic on its quantization grid, so its inputs may have another type. */
TC_API TC_MUST_USE tc_status tc_program_bind_data(tc_program *program, tc_dataset *data,
                                                  size_t *samples, tc_join_kind *join,
                                                  int64_t *extent);

/* Runs once.  On failure there is a message, and the state is unchanged. */
TC_API TC_MUST_USE tc_status tc_program_run(tc_program *program);

/* The results of one sample. */
typedef struct tc_sample_result {
    size_t size;         /* of this record */
    size_t index;        /* of the sample */
    const tc_tensor *in; /* by input, by output: valid until the callback returns */
    const tc_tensor *out;
    double seconds; /* of the run */
} tc_sample_result;

/* Called with each sample's results, in order and one at a time, perhaps from another thread than
 * the caller's.  It may call the library with the same context.  Any status but TC_OK ends the call
 * with that status. */
typedef tc_status tc_on_result(void *user, const tc_sample_result *result);

typedef struct tc_run_data_options {
    size_t size; /* of this record */
    bool reset;  /* every sample starts from the stored state */
    tc_on_result *on_result;
    void *user;
} tc_run_data_options;
TC_SIZED_RECORD(tc_run_data_options)

/* Runs every sample of a dataset bound by tc_program_bind_data(), on the threads of the context.
 * One sample runs on one thread, so results do not depend on the number of threads.  A program with
 * state runs its samples one after the other, unless reset.  A sample that fails ends the call,
 * after the results of all samples before it.  Memory bound to inputs and outputs is not used, and
 * tc_program_result() has nothing afterwards. */
TC_API TC_MUST_USE tc_status tc_program_run_data(tc_program *program, tc_dataset *data,
                                                 const tc_run_data_options *options);

/* Output i after a run: the program's own memory, valid until the next run.  data NULL: not run
 * yet, or no such index. */
TC_API tc_tensor tc_program_result(const tc_program *program, size_t i);

/* Resets the state to what it was before the first run. */
TC_API void tc_program_reset(tc_program *program);

/* Shares the state of another program of the same context: buffers with the same name and type, as
 * the methods of one .pte do.  taken: how many; or NULL. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status
tc_program_take_state(tc_program *program, tc_program *from, size_t *taken);

/* Starts timing every operator, from 0. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_program_time(tc_program *program);

/* Seconds spent in operator i in all runs since, and its name in *op; negative: no more. */
TC_API TC_EXPERIMENTAL double
tc_program_seconds(const tc_program *program, size_t i, const char **op);

/* One step of the running program: a node, often with others fused into it. */
typedef struct tc_step_time {
    size_t size;       /* of this record: set by the caller */
    const char *op;    /* its name */
    const tc_loc *loc; /* the model's node, or NULL */
    double seconds;    /* of all runs since tc_program_time() */
} tc_step_time;
TC_SIZED_RECORD(tc_step_time)

/* Step i in execution order; false: there are no more, or timing was not started. */
TC_API TC_EXPERIMENTAL bool
tc_program_step_time(const tc_program *program, size_t i, tc_step_time *out);

#ifdef __cplusplus
}
#endif
#endif
