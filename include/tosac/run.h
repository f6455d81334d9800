/* SPDX-License-Identifier: Apache-2.0 */
/* run.h -- programs that run: inputs and outputs bound by name or number, called again and again.
 *
 * What the program remembers is carried from run to run.  Memory does not grow with their number.
 */
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

/* A model made ready to run: tidied, its memory laid out, its constants packed.  With reference
 * kernels it is run as it stands.
 *
 *   model    stays as it is
 *   options  NULL for the defaults
 *   out      on TC_OK, the program; it lives as long as the context */
TC_API TC_MUST_USE tc_status tc_program_new(tc_ctx *ctx, const tc_model *model,
                                            const tc_program_options *options, tc_program **out);

/* Inputs and outputs, as tc_model_input() has them; 0: no such place. */
TC_API size_t tc_program_input_count(const tc_program *program);
TC_API size_t tc_program_output_count(const tc_program *program);
TC_API int tc_program_input(const tc_program *program, size_t i, tc_port_info *out);
TC_API int tc_program_output(const tc_program *program, size_t i, tc_port_info *out);

/* The place of a name; -1: there is none. */
TC_API int tc_program_find_input(const tc_program *program, const char *name);
TC_API int tc_program_find_output(const tc_program *program, const char *name);

/* The program's own buffer for an input, to be filled before a run; what it holds is kept.  NULL:
 * no such place, or memory ran out. */
TC_API void *tc_program_input_buffer(tc_program *program, size_t i);

/* Bind memory of the caller's instead: an input is read there on every run, an output is copied
 * there after each.  At least tc_type_bytes() of the place's type, good as long as it is bound;
 * NULL unbinds.  TC_USAGE: no such place. */
TC_API TC_MUST_USE tc_status tc_program_bind_input(tc_program *program, size_t i, const void *data);
TC_API TC_MUST_USE tc_status tc_program_bind_output(tc_program *program, size_t i, void *data);

/* A dataset opened for the program's inputs, as tc_dataset_bind() does for a model's: a typed model
 * is run as float arithmetic on its grids, so that its inputs may be of another type. */
TC_API TC_MUST_USE tc_status tc_program_bind_data(tc_program *program, tc_dataset *data,
                                                  size_t *samples, tc_join_kind *join,
                                                  int64_t *extent);

/* Run once.  On failure a message has been given and the state is what it was before. */
TC_API TC_MUST_USE tc_status tc_program_run(tc_program *program);

/* What a sample gave. */
typedef struct tc_sample_result {
    size_t size;         /* of this record */
    size_t index;        /* of the sample */
    const tc_tensor *in; /* by input, by output: good until the callback returns */
    const tc_tensor *out;
    double seconds; /* that the run took */
} tc_sample_result;

/* One sample's results, the samples in their order and one at a time, perhaps from another thread
 * than the one that made the call.  It may call the library with the same context.  Anything but
 * TC_OK ends the call with that status. */
typedef tc_status tc_on_result(void *user, const tc_sample_result *result);

typedef struct tc_run_data_options {
    size_t size; /* of this record */
    int reset;   /* not 0: every sample starts from the stored state */
    tc_on_result *on_result;
    void *user;
} tc_run_data_options;
TC_SIZED_RECORD(tc_run_data_options)

/* Every sample of a dataset that tc_program_bind_data() has bound, on as many threads as the
 * context has: one sample on one thread, so that results are the same on however many.  A program
 * that remembers runs its samples one after the other (reset: it need not).  A sample that fails
 * ends the call after all before it were handed over, with its message.  What is bound to inputs
 * and outputs takes no part, and tc_program_result() has nothing afterwards. */
TC_API TC_MUST_USE tc_status tc_program_run_data(tc_program *program, tc_dataset *data,
                                                 const tc_run_data_options *options);

/* What output i holds after a run: the program's own memory, good until the next run.  data NULL:
 * it has not been run, or there is no such place. */
TC_API tc_tensor tc_program_result(const tc_program *program, size_t i);

/* The state as it was before the first run. */
TC_API void tc_program_reset(tc_program *program);

/* From now on the program remembers what another one does, of the same context, in the buffers that
 * both have by name and type: the methods of one .pte share theirs.  taken: how many; or NULL. */
TC_API TC_MUST_USE tc_status tc_program_take_state(tc_program *program, tc_program *from,
                                                   size_t *taken);

/* Time every operator from now on, beginning at 0. */
TC_API TC_MUST_USE tc_status tc_program_time(tc_program *program);

/* Seconds spent in operator i of all runs since, and its name in *op; less than 0: there is no
 * i-th.  Operators that took no time are there with 0. */
TC_API double tc_program_seconds(const tc_program *program, size_t i, const char **op);

/* One step of the program as it is run: a node, often with those behind it that joined it. */
typedef struct tc_step_time {
    size_t size;       /* of this record: set by the caller */
    const char *op;    /* what it is timed as */
    const tc_loc *loc; /* the model's node, or NULL */
    double seconds;    /* of all runs since tc_program_time() */
} tc_step_time;
TC_SIZED_RECORD(tc_step_time)

/* Step i, in the order in which they run; 0: there is no i-th, or nobody asked for times. */
TC_API int tc_program_step_time(const tc_program *program, size_t i, tc_step_time *out);

#ifdef __cplusplus
}
#endif
#endif
