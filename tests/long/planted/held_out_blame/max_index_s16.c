#include "scalar.h"

void max_index_s16(const int16_t *in, int32_t *output, size_t length, int16_t least)
{
    int32_t best = least, at = -1;  //! start: int32_t best = 0, at = -1;
    for (size_t i = 0; i < length; ++i) {
        const int32_t value = in[i];  //! sign: const int32_t value = (uint16_t)in[i];
        if (value > best) {  //! compare: if (value >= best) {
            best = value;
            at = i;  //! count: at = i + 1;
        }
    }
    output[0] = best;  //! step: output[0] = best < 0 ? -best : best;
    output[1] = at;
}
