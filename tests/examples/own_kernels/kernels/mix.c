#include "fixed.h"
#include <stddef.h>

void mix(const int8_t *a, const int8_t *b, int32_t share, int8_t *y, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        y[i] = to_fraction(a[i] * share + b[i] * (128 - share));
}
