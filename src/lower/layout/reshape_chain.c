/* SPDX-License-Identifier: Apache-2.0 */
/* reshape_chain.c -- see reshape_chain.h. */
#include "reshape_chain.h"

tc_chain ti_chain_begin(const tc_type *t, const uint8_t *order)
{
    tc_chain c = {.type = t};
    int of_place[TC_MAX_RANK], n = 0;
    for (int i = 0; i < t->rank; i++) {
        of_place[order[i]] = t->dim[i] == 1 ? -1 : c.n;
        if (t->dim[i] == 1)
            continue;
        c.size[c.n] = t->dim[i];
        c.axis[c.n] = i;
        c.at[c.n] = c.n;
        c.n++;
    }
    for (int i = 0; i < t->rank; i++)
        if (of_place[i] >= 0)
            c.from[n++] = of_place[i];
    return c;
}

static void insert(int *list, int n, int after, int what)
{
    memmove(&list[after + 2], &list[after + 1], (size_t)(n - after - 1) * sizeof *list);
    list[after + 1] = what;
}

/* The factor at position k becomes `major` times the rest. */
static bool split_factor(tc_chain *c, int k, int64_t major)
{
    int f = c->at[k], place = 0;
    if (c->n == TC_FACTORS_MAX || c->size[f] % major)
        return false;
    while (c->from[place] != f)
        place++;
    c->size[c->n] = c->size[f] / major;
    c->size[f] = major;
    insert(c->from, c->n, place, c->n);
    insert(c->at, c->n, k, c->n);
    insert(c->axis, c->n, k, c->axis[k]);
    c->n++;
    return true;
}

bool ti_chain_reshape(tc_chain *c, const tc_type *to)
{
    int k = 0;
    for (int i = 0; i < to->rank; i++)
        for (int64_t left = to->dim[i]; left > 1; k++) {
            if (k == c->n)
                return false;
            int64_t size = c->size[c->at[k]];
            if (size > left && !split_factor(c, k, left))
                return false;
            size = c->size[c->at[k]];
            if (left % size)
                return false;
            left /= size;
            c->axis[k] = i;
        }
    c->type = to;
    return k == c->n;
}

void ti_chain_permute(tc_chain *c, const int64_t *perm, const tc_type *to)
{
    int at[TC_FACTORS_MAX], axis[TC_FACTORS_MAX], n = 0;
    for (int i = 0; i < to->rank; i++)
        for (int k = 0; k < c->n; k++)
            if (c->axis[k] == perm[i]) {
                at[n] = c->at[k];
                axis[n++] = i;
            }
    memcpy(c->at, at, sizeof at);
    memcpy(c->axis, axis, sizeof axis);
    c->type = to;
}

/* The position of a factor in memory. */
static int place_of(const tc_chain *c, int f)
{
    int k = 0;
    while (c->from[k] != f)
        k++;
    return k;
}

/* An axis of extent 1 goes after the axis before it. */
bool ti_chain_in_place(const tc_chain *c, uint8_t *place)
{
    int key[TC_MAX_RANK], last = -1;
    for (int i = 0; i < c->type->rank; i++)
        key[i] = -1;
    for (int k = 0; k < c->n; k++) {
        int here = place_of(c, c->at[k]);
        bool goes_on = k && c->axis[k] == c->axis[k - 1];
        if (goes_on && place_of(c, c->at[k - 1]) + 1 != here)
            return false;
        if (!goes_on)
            key[c->axis[k]] = here;
    }
    for (int i = 0; i < c->type->rank; i++)
        last = key[i] = key[i] < 0 ? last : key[i];
    for (int i = 0; i < c->type->rank; i++) {
        place[i] = 0;
        for (int k = 0; k < c->type->rank; k++)
            place[i] = (uint8_t)(place[i] + (key[k] < key[i] || (key[k] == key[i] && k < i)));
    }
    return true;
}
