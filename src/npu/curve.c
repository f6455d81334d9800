/* SPDX-License-Identifier: Apache-2.0 */
/* curve.c -- the machine's own tanh and sigmoid: steps of 1/12288 in, of 1/32768 out, by straight
 * lines between 256 points.  They are TensorFlow Lite's, of 16 bits. */
#include "curve.h"

#include "../base/bytes.h"
#include "../num/fixed.h"

/* With s(x) = 1 / (1 + e^-x): 65536 s(i / 24), raised by half of what the line to the next point
 * misses in its middle; s(i/24) (1 - s) (1 - 2 s) / (16 * 24 * 24). */
static const uint16_t points[257] = {
    32768, 33451, 34133, 34813, 35493, 36169, 36843, 37513, 38180, 38841, 39498, 40149, 40794,
    41432, 42064, 42688, 43304, 43912, 44511, 45102, 45683, 46255, 46817, 47369, 47911, 48443,
    48964, 49475, 49975, 50464, 50942, 51409, 51865, 52311, 52745, 53169, 53581, 53983, 54374,
    54755, 55125, 55485, 55834, 56174, 56503, 56823, 57133, 57433, 57724, 58007, 58280, 58544,
    58800, 59048, 59288, 59519, 59743, 59959, 60168, 60370, 60565, 60753, 60935, 61110, 61279,
    61441, 61599, 61750, 61896, 62036, 62172, 62302, 62428, 62549, 62666, 62778, 62886, 62990,
    63090, 63186, 63279, 63368, 63454, 63536, 63615, 63691, 63765, 63835, 63903, 63968, 64030,
    64090, 64148, 64204, 64257, 64308, 64357, 64405, 64450, 64494, 64536, 64576, 64614, 64652,
    64687, 64721, 64754, 64786, 64816, 64845, 64873, 64900, 64926, 64950, 64974, 64997, 65019,
    65039, 65060, 65079, 65097, 65115, 65132, 65149, 65164, 65179, 65194, 65208, 65221, 65234,
    65246, 65258, 65269, 65280, 65291, 65301, 65310, 65319, 65328, 65337, 65345, 65352, 65360,
    65367, 65374, 65381, 65387, 65393, 65399, 65404, 65410, 65415, 65420, 65425, 65429, 65433,
    65438, 65442, 65445, 65449, 65453, 65456, 65459, 65462, 65465, 65468, 65471, 65474, 65476,
    65479, 65481, 65483, 65485, 65488, 65489, 65491, 65493, 65495, 65497, 65498, 65500, 65501,
    65503, 65504, 65505, 65507, 65508, 65509, 65510, 65511, 65512, 65513, 65514, 65515, 65516,
    65517, 65517, 65518, 65519, 65520, 65520, 65521, 65522, 65522, 65523, 65523, 65524, 65524,
    65525, 65525, 65526, 65526, 65526, 65527, 65527, 65528, 65528, 65528, 65529, 65529, 65529,
    65529, 65530, 65530, 65530, 65530, 65531, 65531, 65531, 65531, 65531, 65532, 65532, 65532,
    65532, 65532, 65532, 65533, 65533, 65533, 65533, 65533, 65533, 65533, 65533, 65534, 65534,
    65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65535, 65535,
};

/* |v| = i 2^bits + part; tanh x = 2 s(2 x) - 1.  Halves go up. */
static int64_t curved(int64_t v, bool tanh)
{
    int bits = tanh ? 8 : 9;
    uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, i = size >> bits;
    int64_t part = (int64_t)(size & ((UINT64_C(1) << bits) - 1)), r;
    if (i >= 255)
        r = tanh ? INT64_C(0xffff) << 8 : INT64_C(0x7fff) << 10;
    else
        r = ((int64_t)points[i] << bits) + part * (points[i + 1] - points[i]);
    if (tanh)
        return ti_asr(v >= 0 ? r - (1 << 23) + 128 : (1 << 23) - r + 127, 8);
    return ti_asr(v >= 0 ? r + 512 : (1 << 25) - r + 511, 10);
}

uint8_t ti_npu_curve_function(const tc_npu_machine *m, tc_npu_curve curve)
{
    static const uint8_t number[][2] = {[TC_CURVE_TANH] = {3, TC_NPU_LOOKUP_TANH}, [TC_CURVE_SIGMOID] = {4, TC_NPU_LOOKUP_SIGMOID}};
    return number[curve][m->product == TC_U85];
}

tc_npu_curve ti_npu_curve_of(const tc_npu_machine *m, const tc_npu_op *op)
{
    for (tc_npu_curve c = TC_CURVE_TANH; c <= TC_CURVE_SIGMOID; c++)
        if (op->function == ti_npu_curve_function(m, c))
            return c;
    return TC_CURVE_NONE;
}

static void put_pair(uint8_t *p, int base, int slope)
{
    p[0] = (uint8_t)base;
    p[1] = (uint8_t)((unsigned)base >> 8);
    p[2] = (uint8_t)slope;
    p[3] = (uint8_t)((unsigned)slope >> 8);
}

/* 512 pairs of a base and a slope, from -256 points up; Vela has sigmoid rise in the first one. */
void ti_npu_curve_table(tc_npu_curve curve, uint8_t out[TC_NPU_LUT])
{
    for (int i = 0; i < 256; i++) {
        put_pair(out + 4 * i, 32768 - points[256 - i], points[256 - i] - points[255 - i]);
        put_pair(out + 4 * (256 + i), points[i] - 32768, points[i + 1] - points[i]);
    }
    out[2] = curve == TC_CURVE_SIGMOID;
}

bool ti_npu_curve_loaded(const uint8_t *table)
{
    for (int i = 0; i < 256; i++) {
        const uint8_t *p = table + 4 * (256 + i);
        if ((int16_t)ti_le16(p) != points[i] - 32768 ||
            (int16_t)ti_le16(p + 2) != points[i + 1] - points[i])
            return false;
    }
    return true;
}

void ti_npu_apply_curve(tc_npu_curve curve, int64_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = curved(v[i], curve == TC_CURVE_TANH);
}
