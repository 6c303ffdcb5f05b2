#include "scalar.h"

static const int32_t COEFFICIENTS[4] = {51472, -21166, 2611, -142};  //! table: static const int32_t COEFFICIENTS[4] = {51472, -21167, 2611, -142};

static int32_t times(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b + 16384) >> 15);  //! round: return (int32_t)(((int64_t)a * b) >> 15);
}

/* An odd polynomial of a number of 15 bits behind the point. */
void sine_q15(const int16_t *in, int16_t *output, size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        const int32_t x = in[i];
        const int32_t square = times(x, x);
        int32_t sum = COEFFICIENTS[3];
        sum = COEFFICIENTS[2] + times(sum, square);  //! operand: sum = COEFFICIENTS[2] + times(sum, x);
        sum = COEFFICIENTS[1] + times(sum, square);  //! index: sum = COEFFICIENTS[0] + times(sum, square);
        sum = COEFFICIENTS[0] + times(sum, square);  //! sign: sum = COEFFICIENTS[0] - times(sum, square);
        output[i] = (int16_t)clamp(times(sum, x), -32768, 32767);  //! bound: output[i] = (int16_t)clamp(times(sum, x), -30000, 32767);
    }
}
