/* SPDX-License-Identifier: Apache-2.0 */
/* foreign.h -- files that are not models. */
#ifndef TC_FOREIGN_H
#define TC_FOREIGN_H

#include "../base/diag.h"

/* Whether these bytes may be a graph as text: they are text, and begin as one does, or the name
 * says so. */
bool ti_text_graph_looks_like(const char *path, tc_bytes bytes);

/* A web page, which a download that failed leaves under the model's name. */
bool ti_looks_like_page(tc_bytes bytes);
/* Text, or bytes that begin as some other kind of file does. */
bool ti_looks_foreign(tc_bytes bytes);

/* Reports what the file is, by its first bytes, and what can be read. */
TC_MUST_USE tc_status ti_foreign_file(tc_ctx *ctx, const char *path, tc_bytes bytes);

#endif
