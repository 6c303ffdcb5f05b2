// The functions of <math.h> that are one or two instructions, by C11 7.12; FPCR's rounding mode is the one in force.
// Conversions saturate and give 0 for NaN, as FCVTZS and FCVTAS; fmin and fmax are minimumNumber and maximumNumber as
// FMINNM and FMAXNM compute them.

.macro function name
        .pushsection .text, "ax", %progbits
        .weak   \name
        .type   \name, %function
        .p2align 2
\name:
.endm

.macro end name
        ret
        .size   \name, . - \name
        .popsection
.endm

.macro unary name, instruction
        function \name
        \instruction d0, d0
        end \name
        function \name\()f
        \instruction s0, s0
        end \name\()f
.endm

.macro binary name, instruction
        function \name
        \instruction d0, d0, d1
        end \name
        function \name\()f
        \instruction s0, s0, s1
        end \name\()f
.endm

.macro to_current_mode name
        function \name
        frintx  d0, d0
        fcvtzs  x0, d0
        end \name
        function \name\()f
        frintx  s0, s0
        fcvtzs  x0, s0
        end \name\()f
.endm

.macro to_nearest_away name
        function \name
        fcvtas  x0, d0
        end \name
        function \name\()f
        fcvtas  x0, s0
        end \name\()f
.endm

        unary   round, frinta
        unary   rint, frintx
        unary   nearbyint, frinti
        unary   floor, frintm
        unary   ceil, frintp
        unary   trunc, frintz
        unary   fabs, fabs
        unary   sqrt, fsqrt
        binary  fmin, fminnm
        binary  fmax, fmaxnm
        to_current_mode lrint
        to_current_mode llrint
        to_nearest_away lround
        to_nearest_away llround

        function fma
        fmadd   d0, d0, d1, d2
        end fma
        function fmaf
        fmadd   s0, s0, s1, s2
        end fmaf

        .section .note.GNU-stack, "", %progbits
