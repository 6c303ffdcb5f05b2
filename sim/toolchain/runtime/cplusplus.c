/* What C++ without exceptions calls, by the Itanium C++ ABI (3.2.6, 3.3.3, 3.3.6.3).
 *
 * Static variables of functions are constructed once.  Their destructors are never run: no program ends here.  Nothing is
 * allocated, so nothing can be deleted; virtual destructors refer to operator delete all the same.
 */
#include <stdint.h>

#define RUNTIME __attribute__((weak))
#define STOP(name) __attribute__((weak, noreturn)) void name(void) { __builtin_trap(); }

STOP(__cxa_pure_virtual)
STOP(__cxa_deleted_virtual)
STOP(_ZdlPv)                 /* operator delete(void *) */
STOP(_ZdlPvm)                /* operator delete(void *, unsigned long) */
STOP(_ZdlPvSt11align_val_t)  /* operator delete(void *, std::align_val_t) */
STOP(_ZdlPvmSt11align_val_t) /* operator delete(void *, unsigned long, std::align_val_t) */
STOP(_ZdaPv)                 /* operator delete[](void *) */
STOP(_ZdaPvm)                /* operator delete[](void *, unsigned long) */

RUNTIME int __cxa_guard_acquire(const char *constructed) { return !*constructed; }
RUNTIME void __cxa_guard_release(char *constructed) { *constructed = 1; }

RUNTIME int __cxa_atexit(void (*destructor)(void *), void *object, void *library)
{
    (void)destructor, (void)object, (void)library;
    return 0;
}

RUNTIME void *const __dso_handle = 0;
