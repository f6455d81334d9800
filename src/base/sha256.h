/* SPDX-License-Identifier: Apache-2.0 */
/* sha256.h -- SHA-256 (FIPS 180-4): names for bytes. */
#ifndef TC_SHA256_H
#define TC_SHA256_H

#include "isa.h"

enum { TC_SHA256_HEX = 64 };

/* Of the concatenation of a few byte strings, as hexadecimal digits and a NUL. */
void ti_sha256_hex(const tc_bytes *part, size_t n, char out[TC_SHA256_HEX + 1]);
/* With the instructions of a level that is here. */
void ti_sha256_hex_by(tc_isa isa, const tc_bytes *part, size_t n, char out[TC_SHA256_HEX + 1]);

#endif
