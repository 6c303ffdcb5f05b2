/* 128-bit integers, under the names by which compilers call their own runtime.
 *
 * C leaves open what follows; here it is what AArch64 does with 64 bits.  Division by zero gives the quotient 0 and the
 * dividend as remainder, the smallest number divided by -1 itself and remainder 0, as SDIV and UDIV.  A conversion to an
 * integer saturates, and gives 0 for NaN, as FCVTZS and FCVTZU.
 */
#include <stdint.h>

typedef __int128 ti;
typedef unsigned __int128 uti;

#define RUNTIME __attribute__((weak))

static uint64_t high(uti value) { return (uint64_t)(value >> 64); }
static uti joined(uint64_t upper, uint64_t lower) { return (uti)upper << 64 | lower; }
static int leading_zeros(uti value) { return high(value) ? __builtin_clzll(high(value)) : 64 + __builtin_clzll(value); }
static uti magnitude(ti value) { return value < 0 ? -(uti)value : (uti)value; }

RUNTIME ti __ashlti3(ti value, int count)
{
    const uint64_t lower = (uint64_t)value;
    if (count >= 64)
        return (ti)joined(lower << (count - 64), 0);
    return count ? (ti)joined(high(value) << count | lower >> (64 - count), lower << count) : value;
}

RUNTIME ti __lshrti3(ti value, int count)
{
    const uint64_t upper = high(value);
    if (count >= 64)
        return (ti)(upper >> (count - 64));
    return count ? (ti)joined(upper >> count, upper << (64 - count) | (uint64_t)value >> count) : value;
}

RUNTIME ti __ashrti3(ti value, int count)
{
    return value < 0 ? ~__lshrti3(~value, count) : __lshrti3(value, count);
}

RUNTIME ti __multi3(ti a, ti b)
{
    const uti low_product = (uti)(uint64_t)a * (uint64_t)b;
    return (ti)joined(high(low_product) + high(a) * (uint64_t)b + (uint64_t)a * high(b), (uint64_t)low_product);
}

/* Long division, one bit of the quotient a step; *remainder is left alone where the pointer is null. */
RUNTIME uti __udivmodti4(uti dividend, uti divisor, uti *remainder)
{
    uti quotient = 0;
    if (divisor && divisor <= dividend)
        for (int place = leading_zeros(divisor) - leading_zeros(dividend); place >= 0; place--)
            if (dividend >> place >= divisor) {
                dividend -= divisor << place;
                quotient |= (uti)1 << place;
            }
    if (remainder)
        *remainder = dividend;
    return quotient;
}

RUNTIME ti __divmodti4(ti dividend, ti divisor, ti *remainder)
{
    uti rest;
    const uti quotient = __udivmodti4(magnitude(dividend), magnitude(divisor), &rest);
    if (remainder)
        *remainder = (ti)(dividend < 0 ? -rest : rest);
    return (ti)((dividend < 0) != (divisor < 0) ? -quotient : quotient);
}

RUNTIME uti __udivti3(uti dividend, uti divisor) { return __udivmodti4(dividend, divisor, 0); }
RUNTIME ti __divti3(ti dividend, ti divisor) { return __divmodti4(dividend, divisor, 0); }

RUNTIME uti __umodti3(uti dividend, uti divisor)
{
    uti remainder;
    __udivmodti4(dividend, divisor, &remainder);
    return remainder;
}

RUNTIME ti __modti3(ti dividend, ti divisor)
{
    ti remainder;
    __divmodti4(dividend, divisor, &remainder);
    return remainder;
}

/* The upper 64 significant bits, with all that lies below them in the lowest one, are rounded once; the scale is exact. */
#define FROM_INTEGER(name, floating, integer, half, redundant)                                   \
    RUNTIME floating name(integer value)                                                         \
    {                                                                                            \
        const int shift = redundant;                                                             \
        if (shift >= 64)                                                                         \
            return (floating)(half)value;                                                        \
        const uti shifted = (uti)value << shift;                                                 \
        const half upper = (half)(high(shifted) | ((uint64_t)shifted != 0));                     \
        return (floating)upper * (2 * (floating)((uint64_t)1 << (63 - shift)));                  \
    }

FROM_INTEGER(__floattisf, float, ti, int64_t, leading_zeros((uti)(value < 0 ? ~value : value) << 1 | 1))
FROM_INTEGER(__floattidf, double, ti, int64_t, leading_zeros((uti)(value < 0 ? ~value : value) << 1 | 1))
FROM_INTEGER(__floatuntisf, float, uti, uint64_t, leading_zeros(value | 1))
FROM_INTEGER(__floatuntidf, double, uti, uint64_t, leading_zeros(value | 1))

/* A number of 2^64 or more has no bits below 1, so its two halves are exact. */
static uti whole(double magnitude)
{
    const uint64_t upper = (uint64_t)(magnitude * 0x1p-64);
    return joined(upper, (uint64_t)(magnitude - (double)upper * 0x1p64));
}

RUNTIME uti __fixunsdfti(double value)
{
    if (!(value >= 1.0))
        return 0;
    return value < 0x1p128 ? whole(value) : ~(uti)0;
}

RUNTIME ti __fixdfti(double value)
{
    const uti largest = ~(uti)0 >> 1;
    if (value < 0.0)
        return value > -0x1p127 ? -(ti)whole(-value) : (ti)~largest;
    return value < 0x1p127 ? (ti)whole(value) : value == value ? (ti)largest : 0;
}

RUNTIME uti __fixunssfti(float value) { return __fixunsdfti(value); }
RUNTIME ti __fixsfti(float value) { return __fixdfti(value); }
