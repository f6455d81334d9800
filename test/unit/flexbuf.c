/* SPDX-License-Identifier: Apache-2.0 */
/* flexbuf.c -- numbers of maps by their keys; maps that are cut off or changed stay inside their
 * bytes. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "wire/flexbuf.h"

/* few -3, many 70000, half 0.5, on true, word "x", none nothing: values of four bytes. */
static const uint8_t direct[] = {
    'f',  'e',  'w',  0,    'm',  'a',  'n',  'y',  0,    'h', 'a', 'l', 'f', 0,  'o',
    'n',  0,    'w',  'o',  'r',  'd',  0,    1,    'x',  0,   'n', 'o', 'n', 'e', 0,
    6,    0x1f, 0x17, 0x1d, 9,    0x15, 0x13, 0,    0,    0,   9,   0,   0,   0,  1,
    0,    0,    0,    6,    0,    0,    0,    0xfd, 0xff, 0xff, 0xff, 0, 0, 0, 0x3f,
    0x70, 0x11, 1,    0,    0,    0,    0,    0,    1,    0,   0,   0,   0x31, 0, 0,
    0,    6,    0xe,  6,    2,    0x6a, 0x14, 0x1e, 0x26, 1};

/* far -5, wide 0.1: values of one byte, which point back to others. */
static const uint8_t pointed[] = {'f',  'a',  'r',  0,    0xfb, 'w',  'i',  'd',  'e',  0,
                                  0,    0,    0,    0,    0,    0,    0x9a, 0x99, 0x99, 0x99,
                                  0x99, 0x99, 0xb9, 0x3f, 2,    0x19, 0x15, 2,    1,    2,
                                  0x1a, 0xf,  0x18, 0x23, 4,    0x24, 1};

static const struct {
    tc_bytes bytes;
    const char *key;
    bool there;
    double value;
} rows[] = {
    {{direct, sizeof direct}, "few", true, -3},   {{direct, sizeof direct}, "many", true, 70000},
    {{direct, sizeof direct}, "half", true, .5},  {{direct, sizeof direct}, "on", true, 1},
    {{direct, sizeof direct}, "word", false, 0},  {{direct, sizeof direct}, "none", false, 0},
    {{direct, sizeof direct}, "fe", false, 0},    {{direct, sizeof direct}, "fewer", false, 0},
    {{pointed, sizeof pointed}, "far", true, -5}, {{pointed, sizeof pointed}, "wide", true, .1},
};

/* Whether a copy, alone in its memory, is a map. */
static bool is_map(tc_bytes b)
{
    uint8_t *copy = malloc(b.size + 1);
    tc_flex_map map;
    double v;
    if (!copy)
        return false;
    uint8_t *own = copy + 1; /* an empty one has an end too */
    memcpy(own, b.data, b.size);
    bool is = ti_flex_map((tc_bytes){own, b.size}, &map);
    for (size_t i = 0; i < TC_COUNT(rows) && is; i++)
        (void)ti_flex_number(&map, rows[i].key, &v);
    free(copy);
    return is;
}

static void test_broken(tc_bytes b)
{
    uint8_t changed[sizeof direct];
    for (size_t n = 0; n < b.size; n++) /* it ends with what it is */
        CHECK(!is_map((tc_bytes){b.data, n}));
    for (size_t n = 1; n < b.size; n++) /* what the root points to is gone, in part */
        (void)is_map((tc_bytes){b.data + n, b.size - n});
    for (size_t i = 0; i < b.size; i++)
        for (int v = 0; v < 256; v++) {
            memcpy(changed, b.data, b.size);
            changed[i] = (uint8_t)v;
            (void)is_map((tc_bytes){changed, b.size});
        }
}

int main(void)
{
    for (size_t i = 0; i < TC_COUNT(rows); i++) {
        tc_flex_map map;
        double v = 0;
        CHECK(ti_flex_map(rows[i].bytes, &map));
        CHECK(ti_flex_number(&map, rows[i].key, &v) == rows[i].there);
        CHECK(!rows[i].there || v == rows[i].value);
    }
    test_broken(rows[0].bytes);
    test_broken(rows[TC_COUNT(rows) - 1].bytes);
    return check_done();
}
