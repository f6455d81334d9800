/* SPDX-License-Identifier: Apache-2.0 */
/* base64.h -- bytes as text of 64 characters. */
#ifndef TC_BASE64_H
#define TC_BASE64_H

#include "bytes.h"
#include "text.h"

/* data NULL: it is none. */
tc_bytes ti_base64_read(tc_arena *arena, tc_str text);
void ti_base64_write(tc_bytes bytes, tc_buf *out); /* padded by '=' */

#endif
