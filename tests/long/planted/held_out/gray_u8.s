// void gray_u8(const uint8_t *rgb, uint8_t *output, size_t length): (77 r + 150 g + 29 b + 128) >> 8
        .text
        .globl  gray_u8
        .type   gray_u8, %function
gray_u8:
        movi    v16.8b, #77
        movi    v17.8b, #150  //! constant: movi    v17.8b, #149
        movi    v18.8b, #29
        mov     w9, #77
        mov     w10, #150
        mov     w11, #29
1:      cmp     x2, #8
        b.lo    2f
        ld3     {v0.8b, v1.8b, v2.8b}, [x0], #24
        umull   v3.8h, v0.8b, v16.8b  //! sign: smull   v3.8h, v0.8b, v16.8b
        umlal   v3.8h, v1.8b, v17.8b
        umlal   v3.8h, v2.8b, v18.8b  //! saturation: umull   v4.8h, v2.8b, v18.8b; uqshl v4.8h, v4.8h, #3; ushr v4.8h, v4.8h, #3; add v3.8h, v3.8h, v4.8h
        rshrn   v3.8b, v3.8h, #8  //! round: shrn    v3.8b, v3.8h, #8
        st1     {v3.8b}, [x1], #8
        sub     x2, x2, #8
        b       1b
2:      cbz     x2, 4f
3:      ldrb    w3, [x0], #1
        ldrb    w4, [x0], #1
        ldrb    w5, [x0], #1
        mul     w3, w3, w9
        madd    w3, w4, w10, w3
        madd    w3, w5, w11, w3
        add     w3, w3, #128  //! tail: add     w3, w3, #127
        lsr     w3, w3, #8
        strb    w3, [x1], #1
        subs    x2, x2, #1
        b.ne    3b
4:      ret
        .size   gray_u8, . - gray_u8
