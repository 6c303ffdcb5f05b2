/* activation_table with NEON intrinsics: each byte is replaced by that of a table of 256, sixteen a step.
 *
 * By TBL and TBX of four registers each: an index beyond its 64 bytes leaves the lane as it is. The last bytes go one by
 * one, in every lane of a vector. A byte of int8 is looked up as the uint8 of the same bits.
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8x16x4_t quarter[4];
} table_t;

static inline table_t table_of(const uint8_t *bytes)
{
    table_t table;
    for (int quarter = 0; quarter < 4; ++quarter)
        for (int part = 0; part < 4; ++part)
            table.quarter[quarter].val[part] = vld1q_u8(bytes + 64 * quarter + 16 * part);
    return table;
}

static inline uint8x16_t look_up(const table_t *table, uint8x16_t index)
{
    const uint8x16_t quarter = vdupq_n_u8(64);
    uint8x16_t found = vqtbl4q_u8(table->quarter[0], index);
    index = vsubq_u8(index, quarter);
    found = vqtbx4q_u8(found, table->quarter[1], index);
    index = vsubq_u8(index, quarter);
    found = vqtbx4q_u8(found, table->quarter[2], index);
    index = vsubq_u8(index, quarter);
    return vqtbx4q_u8(found, table->quarter[3], index);
}

void activation_table_u8(const uint8_t *input, const uint8_t *table, uint8_t *output, size_t length)
{
    const table_t whole = table_of(table);
    size_t i = 0;
    for (; i + 16 <= length; i += 16)
        vst1q_u8(output + i, look_up(&whole, vld1q_u8(input + i)));
    for (; i < length; ++i)
        vst1q_lane_u8(output + i, look_up(&whole, vld1q_dup_u8(input + i)), 0);
}

void activation_table_s8(const int8_t *input, const int8_t *table, int8_t *output, size_t length)
{
    activation_table_u8((const uint8_t *)input, (const uint8_t *)table, (uint8_t *)output, length);
}
