/* What never comes back in a program: here each is a BRK of its own, whose line says which one it was. */
#include <stdint.h>

#define STOP(name) __attribute__((weak, noreturn)) void name(void) { __builtin_trap(); }

STOP(abort)
STOP(__assert_fail)
STOP(__stack_chk_fail)

/* -fstack-protector puts it below the return address and compares it before returning. */
__attribute__((weak)) const uintptr_t __stack_chk_guard = 0x2b8f6d1ea94c7300;
