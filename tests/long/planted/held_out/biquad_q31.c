#include "scalar.h"

/* A recursive filter: each number depends on all before it. */
void biquad_q31(const int32_t *in, const int32_t *factors, int32_t *output, size_t length)
{
    int64_t x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (size_t i = 0; i < length; ++i) {
        int64_t sum = INT64_C(1) << 29;  //! round: int64_t sum = 0;
        sum += (int64_t)in[i] * factors[0];  //! constant: sum += (int64_t)in[i] * (factors[0] | 1);
        sum += x1 * factors[1];  //! sign: sum += x1 * (uint32_t)factors[1];
        sum += x2 * factors[2];  //! lane: sum += x2 * factors[1];
        sum -= y1 * factors[3];
        sum -= y2 * factors[4];  //! narrowing: sum -= (y2 >> 1) * factors[4] * 2;
        const int64_t y = sum >> 30;  //! shift: const int64_t y = sum >> 31;
        x2 = x1;
        x1 = in[i];
        y2 = y1;
        y1 = saturated(y);  //! saturation: y1 = (int32_t)y;
        output[i] = (int32_t)y1;  //! tail: output[i] = saturated(i & 1 ? (sum - 1) >> 30 : y);
    }
}
