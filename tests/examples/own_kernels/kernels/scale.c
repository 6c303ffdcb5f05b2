#include "fixed.h"
#include <stddef.h>

void scale(const int8_t *a, int32_t gain, int8_t *y, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        y[i] = to_fraction(a[i] * gain);
}
