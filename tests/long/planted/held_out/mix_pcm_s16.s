// void mix_pcm_s16(const int16_t *a, const int16_t *b, int16_t *output, size_t length, int16_t gain_a, int16_t gain_b)
        .text
        .globl  mix_pcm_s16
        .type   mix_pcm_s16, %function
mix_pcm_s16:
        sxth    w4, w4
        sxth    w5, w5
        ins     v4.h[0], w4
        ins     v4.h[1], w5
1:      cmp     x3, #8
        b.lo    2f
        ldr     q0, [x0], #16
        ldr     q1, [x1], #16
        sqrdmulh v0.8h, v0.8h, v4.h[0]  //! round: sqdmulh v0.8h, v0.8h, v4.h[0]
        sqrdmulh v1.8h, v1.8h, v4.h[1]  //! lane: sqrdmulh v1.8h, v1.8h, v4.h[0]
        sqadd   v0.8h, v0.8h, v1.8h  //! saturation: add     v0.8h, v0.8h, v1.8h
        str     q0, [x2], #16
        sub     x3, x3, #8
        b       1b
2:      cbz     x3, 4f
        mov     w9, #32767  //! constant: mov     w9, #32766
        mov     w10, #-32768
3:      ldrsh   w6, [x0], #2
        ldrsh   w7, [x1], #2  //! sign: ldrh    w7, [x1], #2
        mov     w8, #16384
        madd    w6, w6, w4, w8
        madd    w7, w7, w5, w8
        asr     w6, w6, #15
        asr     w7, w7, #15  //! shift: asr     w7, w7, #16
        cmp     w6, w9
        csel    w6, w6, w9, lt  //! tail: nop
        cmp     w7, w9
        csel    w7, w7, w9, lt  //! narrowing: nop
        add     w6, w6, w7
        cmp     w6, w9
        csel    w6, w6, w9, lt
        cmp     w6, w10
        csel    w6, w6, w10, gt  //! offset: nop
        strh    w6, [x2], #2
        subs    x3, x3, #1
        b.ne    3b
4:      ret
        .size   mix_pcm_s16, . - mix_pcm_s16
