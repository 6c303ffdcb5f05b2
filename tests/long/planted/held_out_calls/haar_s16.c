#include "scalar.h"

static int32_t halved(int32_t value)
{
    return (value + 1) >> 1;  //! helper: return value >> 1;
}

static int32_t halved_down(int32_t value)
{
    return value >> 1;
}

/* Pairs as their mean and their difference, and the mean of the differences beside. */
void haar_s16(const int16_t *in, int16_t *mean, int16_t *apart, int16_t *slope, size_t pairs)
{
    int32_t before = 0;
    for (size_t i = 0; i < pairs; ++i) {
        const int32_t left = in[2 * i], right = in[2 * i + 1];
        mean[i] = (int16_t)halved(left + right);  //! called: mean[i] = (int16_t)halved_down(left + right);
        const int32_t difference = left - right;  //! swapped: const int32_t difference = right - left;
        apart[i] = (int16_t)halved_down(difference);  //! other: apart[i] = (int16_t)halved(difference);
        slope[i] = (int16_t)clamp(halved(difference - before), -32768, 32767);  //! bound: slope[i] = (int16_t)halved(difference - before);
        before = difference;  //! kept: before = left;
    }
}
