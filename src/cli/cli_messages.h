/* SPDX-License-Identifier: Apache-2.0 */
/* cli_messages.h -- the command line's own messages, and the printing of all messages at the
 * end. */
#ifndef TOSAC_CLI_MESSAGES_H
#define TOSAC_CLI_MESSAGES_H

#include "cli.h"

/* A message of our own; those of the library are in the context. */
typedef struct cli_message {
    const char *file; /* NULL: "tosac" */
    const char *kind; /* "error", "note" */
    const char *id;
    const char *text;
    cli_texts notes;
} cli_message;

/* Prints all messages, the library's first, to standard error: lines for people, or, with --json,
 * one object (doc/schema/messages.json).  Returns the exit code. */
int cli_tell(cli *c, tc_status status);

#endif
