/* What compilers call to copy, fill and compare memory, by C11 7.24; eight bytes at a time, then one at a time.
 *
 * Weak, as all of the runtime: a function that the kernel defines itself wins.
 */
#include <stddef.h>
#include <stdint.h>

typedef uint64_t __attribute__((aligned(1), may_alias)) word;

static void copy_upwards(unsigned char *to, const unsigned char *from, size_t size)
{
    for (; size >= sizeof(word); size -= sizeof(word), to += sizeof(word), from += sizeof(word))
        *(word *)to = *(const word *)from;
    for (; size; size--)
        *to++ = *from++;
}

static void copy_downwards(unsigned char *to, const unsigned char *from, size_t size)
{
    for (; size >= sizeof(word); size -= sizeof(word))
        *(word *)(to + size - sizeof(word)) = *(const word *)(from + size - sizeof(word));
    for (; size; size--)
        to[size - 1] = from[size - 1];
}

__attribute__((weak)) void *memcpy(void *to, const void *from, size_t size)
{
    copy_upwards(to, from, size);
    return to;
}

__attribute__((weak)) void *memmove(void *to, const void *from, size_t size)
{
    const int upwards_reads_before_it_writes = (uintptr_t)to - (uintptr_t)from >= size;
    (upwards_reads_before_it_writes ? copy_upwards : copy_downwards)(to, from, size);
    return to;
}

__attribute__((weak)) void *memset(void *to, int value, size_t size)
{
    const word pattern = (unsigned char)value * 0x0101010101010101u;
    unsigned char *at = to;
    for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word))
        *(word *)at = pattern;
    for (; size; size--)
        *at++ = (unsigned char)value;
    return to;
}

__attribute__((weak)) int memcmp(const void *first, const void *second, size_t size)
{
    const unsigned char *a = first, *b = second;
    for (; size >= sizeof(word) && *(const word *)a == *(const word *)b; size -= sizeof(word))
        a += sizeof(word), b += sizeof(word);
    for (; size && *a == *b; size--)
        a++, b++;
    return size ? *a - *b : 0;
}
