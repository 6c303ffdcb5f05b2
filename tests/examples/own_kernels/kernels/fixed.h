/* Fractions of 7 bits, rounded to nearest with ties up, and saturated. */
#include <stdint.h>

static inline int8_t to_fraction(int32_t product)
{
    const int32_t rounded = (product + 64) >> 7;
    return (int8_t)(rounded > 127 ? 127 : rounded < -128 ? -128 : rounded);
}
