/* SPDX-License-Identifier: Apache-2.0 */
/* pack.h -- a model in C as one file that tools of firmware install: a CMSIS-Pack, or a library in the form
 * of Arduino and PlatformIO.  Both are ZIP archives; the same model gives the same bytes. */
#ifndef TC_PACK_H
#define TC_PACK_H

#include "../base/diag.h"

/* What is packed: sources whose names are those of no folder; the first header is the model's. */
typedef struct tc_pack {
    const char *vendor, *name, *version; /* "acme", "keywords", "1.0.0" */
    const char *core;                    /* "cortex-m4": what the C is for */
    const char *made_by;
    const char *const *file;
    const tc_bytes *bytes;
    size_t n_file;
    bool npu; /* the firmware supplies tosac_npu_run() */
} tc_pack;

/* "acme.keywords.1.0.0.pack", and the same with "keywords-1.0.0.zip" or "keywords.zip" (1.0.0 then): the
 * names in it.  path NULL: "tosac.model.1.0.0.pack".  An error where it is called otherwise. */
TC_MUST_USE tc_status ti_pack_name(tc_ctx *ctx, const char *path, tc_pack *out);
TC_MUST_USE tc_status ti_library_name(tc_ctx *ctx, const char *path, tc_pack *out);

tc_bytes ti_pack_cmsis(tc_ctx *ctx, const tc_pack *pack);
tc_bytes ti_pack_library(tc_ctx *ctx, const tc_pack *pack);

#endif
