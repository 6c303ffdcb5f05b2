// void gradient_u8(const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d, uint8_t *output,
//                  size_t length): (|a - b| + |c - d| + 1) >> 1, and at least the smaller of a and c
        .text
        .globl  gradient_u8
        .type   gradient_u8, %function
gradient_u8:
1:      cmp     x5, #16
        b.lo    2f
        ldr     q0, [x0], #16
        ldr     q1, [x1], #16
        ldr     q2, [x2], #16
        ldr     q3, [x3], #16
        uabd    v4.16b, v0.16b, v1.16b  //! sign: sabd    v4.16b, v0.16b, v1.16b
        uabd    v5.16b, v2.16b, v3.16b  //! saturation: uqsub   v5.16b, v2.16b, v3.16b
        urhadd  v4.16b, v4.16b, v5.16b  //! round: uhadd   v4.16b, v4.16b, v5.16b
        umin    v0.16b, v0.16b, v2.16b  //! narrowing: smin    v0.16b, v0.16b, v2.16b
        umax    v4.16b, v4.16b, v0.16b
        str     q4, [x4], #16
        sub     x5, x5, #16
        b       1b
2:      cbz     x5, 4f
3:      ldrb    w6, [x0], #1
        ldrb    w7, [x1], #1
        ldrb    w8, [x2], #1
        ldrb    w9, [x3], #1
        subs    w7, w6, w7
        cneg    w7, w7, mi  //! offset: nop
        subs    w9, w8, w9
        cneg    w9, w9, mi
        add     w7, w7, w9
        add     w7, w7, #1  //! constant: nop
        lsr     w7, w7, #1
        cmp     w6, w8
        csel    w6, w6, w8, lo  //! tail: csel    w6, w6, w8, hs
        cmp     w7, w6
        csel    w7, w7, w6, hi
        strb    w7, [x4], #1
        subs    x5, x5, #1
        b.ne    3b
4:      ret
        .size   gradient_u8, . - gradient_u8
