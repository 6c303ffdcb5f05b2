/* activation_table in plain C, without intrinsics: the same functions and arguments as kernel.c. */
#include <stddef.h>
#include <stdint.h>

void activation_table_u8(const uint8_t *restrict input, const uint8_t *restrict table, uint8_t *restrict output,
                         size_t length)
{
    for (size_t i = 0; i < length; ++i)
        output[i] = table[input[i]];
}

void activation_table_s8(const int8_t *restrict input, const int8_t *restrict table, int8_t *restrict output,
                         size_t length)
{
    for (size_t i = 0; i < length; ++i)
        output[i] = table[(uint8_t)input[i]];
}
