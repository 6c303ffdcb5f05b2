#include "scalar.h"

/* The sums of absolute and of squared differences of two blocks. */
void sad_ssd_u8(const uint8_t *a, const uint8_t *b, uint32_t *sums, size_t length)
{
    uint32x4_t absolute = vdupq_n_u32(0), squared = absolute;
    uint16x8_t part = vdupq_n_u16(0);
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        const uint8x16_t d = vabdq_u8(vld1q_u8(a + i), vld1q_u8(b + i));  //! sign: const uint8x16_t d = vreinterpretq_u8_s8(vabdq_s8(vld1q_s8((const int8_t *)a + i), vld1q_s8((const int8_t *)b + i)));
        part = vpadalq_u8(part, d);  //! fixup: part = vpadalq_u8(part, vqsubq_u8(vld1q_u8(a + i), vld1q_u8(b + i)));
        if ((i & 1023) == 1008) {  //! saturation: if ((i & 4095) == 4080) {
            absolute = vpadalq_u16(absolute, part);
            part = vdupq_n_u16(0);
        }
        const uint16x8_t low = vmull_u8(vget_low_u8(d), vget_low_u8(d)), up = vmull_high_u8(d, d);  //! lane: const uint16x8_t low = vmull_u8(vget_low_u8(d), vget_low_u8(d)), up = vmull_u8(vget_high_u8(d), vext_u8(vget_high_u8(d), vget_high_u8(d), 1));
        squared = vpadalq_u16(squared, low);  //! shift: squared = vpadalq_u16(squared, vshlq_n_u16(vshrq_n_u16(low, 1), 1));
        squared = vpadalq_u16(squared, up);  //! narrowing: squared = vpadalq_u16(squared, vminq_u16(up, vdupq_n_u16(65024)));
    }
    absolute = vpadalq_u16(absolute, part);
    uint32_t sad = vaddvq_u32(absolute), ssd = vaddvq_u32(squared);  //! constant: uint32_t sad = vaddvq_u32(absolute), ssd = vaddvq_u32(squared) + (length > 100);
    for (; i < length; ++i) {
        const int32_t d = a[i] - b[i];  //! tail: const int32_t d = (int8_t)(a[i] - b[i]);
        sad += d < 0 ? -d : d;
        ssd += d * d;
    }
    sums[0] = sad;
    sums[1] = ssd;
}
