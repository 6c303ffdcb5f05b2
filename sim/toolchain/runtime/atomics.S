// The out-of-line atomics that GCC calls (-moutline-atomics, its default): the LSE instruction of each name.
// The last argument is the address, the one before it the operand, and before that, for cas, the value to compare with;
// the old content is returned.  "sync" is what __sync_* builtins ask for: a barrier follows.

        .arch_extension lse

.macro begin name
        .weak   \name
        .type   \name, %function
        .p2align 2
\name:
.endm

.macro end name
        ret
        .size   \name, . - \name
.endm

.macro fetch operation, size, width, register, order, suffix, barrier:vararg
        begin   __aarch64_\operation\size\()_\order
        \operation\suffix\width \register\()0, \register\()0, [x1]
        \barrier
        end     __aarch64_\operation\size\()_\order
.endm

.macro one size, width, register, order, suffix, barrier:vararg
        begin   __aarch64_cas\size\()_\order
        cas\suffix\width \register\()0, \register\()1, [x2]
        \barrier
        end     __aarch64_cas\size\()_\order
        fetch   swp, \size, \width, \register, \order, \suffix, \barrier
        fetch   ldadd, \size, \width, \register, \order, \suffix, \barrier
        fetch   ldclr, \size, \width, \register, \order, \suffix, \barrier
        fetch   ldset, \size, \width, \register, \order, \suffix, \barrier
        fetch   ldeor, \size, \width, \register, \order, \suffix, \barrier
.endm

.macro sizes order, suffix, barrier:vararg
        one     1, b, w, \order, \suffix, \barrier
        one     2, h, w, \order, \suffix, \barrier
        one     4, , w, \order, \suffix, \barrier
        one     8, , x, \order, \suffix, \barrier
.endm

        .text
        sizes   relax
        sizes   acq, a
        sizes   rel, l
        sizes   acq_rel, al
        sizes   sync, al, dmb ish

        .section .note.GNU-stack, "", %progbits
