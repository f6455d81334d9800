/* SPDX-License-Identifier: Apache-2.0 */
/* main.c -- a model of one input and one output on a picture of zeros: its class, and how long it took. */
#include <zephyr/kernel.h>

#include "network.h"

static uint8_t arena[NETWORK_ARENA_BYTES] __aligned(16);
static int8_t input[NETWORK_INPUT_0_BYTES] __aligned(16);
static int16_t output[NETWORK_OUTPUT_0_ELEMENTS] __aligned(16);

int main(void)
{
	int best = 0;

	memset(input, NETWORK_INPUT_0_ZERO_POINT, sizeof(input)); /* here: what the sensor says, as codes */
	uint32_t begin = k_cycle_get_32();

	network_run_in(arena, input, output);
	uint32_t cycles = k_cycle_get_32() - begin;

	for (int i = 1; i < NETWORK_OUTPUT_0_ELEMENTS; i++) {
		best = output[i] > output[best] ? i : best;
	}
	printk("class %d, %u us\n", best, k_cyc_to_us_floor32(cycles));
	return 0;
}
