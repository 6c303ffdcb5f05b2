"""Which lines a kernel with one fault is said to be wrong in: one kernel for each kind of repair."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isa import decode_word
from isa.lane import Place, operands_first
from sim.check.check import Job
from sim.check.repair.code import ExecutedCode
from sim.check.repair.fault import FaultLines
from sim.check.repair.place import fault_of_build, find_fault
from sim.check.repair.trials import RepairTrials
from sim.check.repair.variables import left_out_variables
from sim.check.vectors import Vectors, make_vectors
from sim.kernels import Domain, Kernel, parse_prototype
from sim.toolchain.compilers import build
from support.faulty import BYTES, EACH, SHORT, Faulty, faulty_kernel, ties_away, wide
from support.sampled import sampled, shown_too_by


def picked(inputs: Mapping[str, Any], tables: str, mask: int) -> np.ndarray:
    """Of eight elements each those that the bytes of the first array number in two others; 0 from 16 on."""
    first, *both = (wide(inputs, name).reshape(-1, 8) for name in ("a", *tables))
    numbers = first & mask
    table = np.concatenate([*both, np.zeros_like(first)], axis=1)
    return np.take_along_axis(table, np.minimum(numbers, 16), axis=1).reshape(-1)


KERNELS = {
    "a sum that wraps before it is widened": Faulty(
        """for (int i = 0; i + 8 <= n; i += 8) {
            const int8x8_t x = vld1_s8(a + i), y = vld1_s8(b + i);
            const int16x8_t sum = vmovl_s8(vadd_s8(x, y)); // FAULT
            vst1q_s16(output + i, vshlq_n_s16(sum, 1));
        }""",
        lambda i: 2 * (wide(i, "a") + wide(i, "b")), BYTES,
    ),
    "a number that is bounded before it is widened": Faulty(
        """for (int i = 0; i + 8 <= n; i += 8) {
            const int8x8_t x = vld1_s8(a + i), y = vld1_s8(b + i);
            const int16x8_t apart = vmovl_s8(vqsub_s8(x, y)); // FAULT
            vst1q_s16(output + i, vshlq_n_s16(apart, 1));
        }""",
        lambda i: 2 * (wide(i, "a") - wide(i, "b")), BYTES,
    ),
    "a product of 32 bits that must have 64": Faulty(
        EACH + """
            const int product = a[i] * b[i];
            output[i] = product >> 14; // FAULT
            output[i] += 3;
        }""",
        lambda i: (wide(i, "a") * wide(i, "b") >> 14) + 3,
    ),
    "a variable that is too short": Faulty(
        EACH + """
            const int16_t sum = a[i] + b[i]; // FAULT
            output[i] = sum * 3;
            output[i] ^= sum >> 2;
        }""",
        lambda i: 3 * (wide(i, "a") + wide(i, "b")) ^ (wide(i, "a") + wide(i, "b") >> 2),
    ),
    "another variable": Faulty(
        EACH + """
            const int twice = 2 * a[i];
            const int thrice = 3 * a[i];
            const int low = thrice - 5;
            output[i] = low ^ thrice; // FAULT
            output[i] += twice;
        }""",
        lambda i: ((3 * wide(i, "a") - 5) ^ (2 * wide(i, "a"))) + 2 * wide(i, "a"),
    ),
    "an element beside": Faulty(
        EACH + """
            int x = a[i];
            if (i + 1 < n)
                x = x * 3 + b[i]; // FAULT
            output[i] = x ^ 5;
        }""",
        lambda i: np.append(3 * wide(i, "a")[:-1] + wide(i, "b")[1:], wide(i, "a")[-1:]) ^ 5,
    ),
    "a variable left out": Faulty(
        """int sum = 0;
        for (int i = 0; i < n; ++i)
            sum += a[i] & 255;
        for (int i = 0; i < n; ++i) {
            int x = b[i] * 3; // FAULT
            output[i] = x ^ 9;
        }""",
        lambda i: (3 * wide(i, "b") + (wide(i, "a") & 255).sum()) ^ 9,
    ),
    "a bound left out where a variable is only copied": Faulty(
        EACH
        + """
            const int x = a[i] * 3;
            const int y = x ^ 21;
            int z = x; // FAULT
            output[i] = z * 5 + y;
        }""",
        lambda i: 5 * np.maximum(3 * wide(i, "a"), 0) + (3 * wide(i, "a") ^ 21),
    ),
    "half of the last place, from another line": Faulty(
        EACH
        + """
            const int x = a[i] * 5 + b[i];
            int half = 0; // FAULT
            const int moved = (x + half) >> 3;
            output[i] = moved ^ 6;
        }""",
        lambda i: (5 * wide(i, "a") + wide(i, "b") + 4 >> 3) ^ 6,
    ),
    "a sign left out": Faulty(
        EACH + """
            const int64_t x = (int64_t)a[i] * (uint32_t)b[i]; // FAULT
            output[i] = (int)(x >> 15);
        }""",
        lambda i: wide(i, "a") * wide(i, "b") >> 15,
    ),
    "a condition that should not be": Faulty(
        EACH + """
            int x = a[i] * 3;
            if (b[i] > a[i]) // FAULT
                x = x ^ b[i];
            output[i] = x + 1;
        }""",
        lambda i: (3 * wide(i, "a") ^ wide(i, "b")) + 1,
    ),
    "the same slip three times on one line": Faulty(
        EACH
        + """
            const unsigned x = a[i] * 3000, y = b[i] * 5000, z = x ^ y;
            const unsigned all = (x >> 4) ^ (y >> 5) ^ (z >> 6); // FAULT
            output[i] = (int)all + 7;
        }""",
        lambda i: (
            (3000 * wide(i, "a") >> 4) ^ (5000 * wide(i, "b") >> 5)
            ^ ((3000 * wide(i, "a") ^ 5000 * wide(i, "b")) >> 6)
        ) + 7,
    ),
    "one count that is wrong three times on one line": Faulty(
        EACH
        + """
            const int x = a[i] * 3000, y = b[i] * 5000, z = x ^ y;
            const int all = (x >> 4) + (y >> 4) - (z >> 4); // FAULT
            output[i] = all ^ 7;
        }""",
        lambda i: (
            (3000 * wide(i, "a") >> 5) + (5000 * wide(i, "b") >> 5)
            - ((3000 * wide(i, "a") ^ 5000 * wide(i, "b")) >> 5)
        ) ^ 7,
    ),
    "an index left out": Faulty(
        EACH
        + """
            const int x = a[i] * 3;
            output[i] = x ^ b[0]; // FAULT
            output[i] += 9;
        }""",
        lambda i: (3 * wide(i, "a") ^ wide(i, "b")) + 9,
    ),
    "a variable that begins with nothing": Faulty(
        """int sum = 0; // FAULT
        for (int i = 0; i < n; ++i) {
            sum += a[i] ^ 3;
            output[i] = sum;
        }""",
        lambda i: i["n"] + (wide(i, "a") ^ 3).cumsum(),
    ),
    "a quotient that is to be rounded down": Faulty(
        EACH
        + """
            const int x = (a[i] + b[i]) / 8; // FAULT
            output[i] = x ^ 5;
        }""",
        lambda i: (wide(i, "a") + wide(i, "b") >> 3) ^ 5,
    ),
    "bits from the wrong end": Faulty(
        EACH
        + """
            const unsigned x = a[i] & 255;
            const unsigned part = x & 15; // FAULT
            output[i] = (int)part + b[i];
        }""",
        lambda i: ((wide(i, "a") & 255) >> 4) + wide(i, "b"),
    ),
    "a quotient that is to be rounded": Faulty(
        EACH
        + """
            const int x = (a[i] + b[i]) / 7; // FAULT
            output[i] = x ^ 5;
        }""",
        lambda i: (np.sign(wide(i, "a") + wide(i, "b")) * ((2 * abs(wide(i, "a") + wide(i, "b")) + 7) // 14)) ^ 5,
    ),
    "a fix-up by the sign of a variable left out": Faulty(
        EACH
        + """
            const int x = a[i] * 3 + b[i];
            const int rest = x & 3; // FAULT
            output[i] = (x >> 2) + (rest > 1);
        }""",
        lambda i: np.trunc((3 * wide(i, "a") + wide(i, "b")) / 4 + np.sign(3 * wide(i, "a") + wide(i, "b")) / 2),
    ),
    "a number that is bounded before another is added": Faulty(
        """for (int i = 0; i + 8 <= n; i += 8) {
            const int16x8_t x = vld1q_s16(a + i), y = vld1q_s16(b + i);
            const uint8x8_t sum = vqadd_u8(vqmovun_s16(x), vqmovun_s16(vandq_s16(y, vdupq_n_s16(127)))); // FAULT
            vst1q_s32(output + i, vmovl_s16(vreinterpret_s16_u16(vget_low_u16(vmovl_u8(sum)))));
            vst1q_s32(output + i + 4, vmovl_s16(vget_high_s16(vreinterpretq_s16_u16(vmovl_u8(sum)))));
        }""",
        lambda i: np.clip(wide(i, "a") + (wide(i, "b") & 127), 0, 255), SHORT,
    ),
    "another operand twice": Faulty(
        EACH
        + """
            const int x = a[i] + 7, y = b[i] ^ 3;
            const int part = (short)x * (short)y; // FAULT
            output[i] = part ^ (x - y);
        }""",
        lambda i: ((wide(i, "a") + 7 + 32768) % 65536 - 32768) ** 2 ^ (wide(i, "a") + 7 - (wide(i, "b") ^ 3)),
    ),
    "a number of 64 bits that is cut to 32": Faulty(
        EACH
        + """
            int64_t x = (int64_t)a[i] << 20;
            x = (int32_t)x + b[i]; // FAULT
            output[i] = (int)(x >> 18);
        }""",
        lambda i: (wide(i, "a") << 20) + wide(i, "b") >> 18,
    ),
    "a step of a vector that is only copied left out": Faulty(
        """for (int i = 0; i + 4 <= n; i += 4) {
            const int32x4_t x = vld1q_s32(a + i);
            const int32x4_t y = x; // FAULT
            vst1q_s32(output + i, veorq_s32(vaddq_s32(x, x), y));
        }""",
        lambda i: 2 * wide(i, "a") ^ abs(wide(i, "a")),
    ),
    "a variable left out of a vector that is only narrowed": Faulty(
        """const int16_t more = (int16_t)n;
        for (int i = 0; i + 8 <= n; i += 8) {
            const int16x8_t x = vmulq_n_s16(vmovl_s8(vld1_s8(a + i)), more);
            const int8x8_t narrow = vqmovn_s16(x); // FAULT
            vst1q_s16(output + i, vmovl_s8(narrow));
        }""",
        lambda i: np.clip(i["n"] * wide(i, "a") + i["n"], -128, 127), BYTES,
    ),
    "a variable in the place of 0": Faulty(
        EACH + """
            const int limit = n;
            const int x = a[i] > limit ? a[i] : b[i]; // FAULT
            output[i] = x + limit;
        }""",
        lambda i: np.where(wide(i, "a") > 0, i["a"], i["b"]) + i["n"], SHORT,
    ),
    "a largest number that begins with 0": Faulty(
        """int most = 0; // FAULT
        for (int i = 1; i < n; ++i)
            if (a[i] > most)
                most = a[i];
        """ + EACH + "output[i] = most - b[i]; }",
        lambda i: max(wide(i, "a"), default=0) - wide(i, "b"), SHORT,
    ),
    "a constant with one other bit": Faulty(
        EACH
        + """
            int x = a[i] + 1;
            if (x > 9600) // FAULT
                x = b[i] * 3;
            output[i] = x ^ 5;
        }""",
        lambda i: np.where(wide(i, "a") + 1 > 25984, 3 * wide(i, "b"), wide(i, "a") + 1) ^ 5,
    ),
    "a constant that a compiler makes once for two lines": Faulty(
        """for (int i = 0; i + 8 <= n; i += 8) {
            int16x8_t x = vminq_s16(vld1q_s16(a + i), vdupq_n_s16(600));
            x = vsubq_s16(vdupq_n_s16(600), x); // FAULT
            vst1q_s32(output + i, vmovl_s16(vget_low_s16(x)));
            vst1q_s32(output + i + 4, vmovl_s16(vget_high_s16(x)));
        }""",
        lambda i: 601 - np.minimum(wide(i, "a"), 600), SHORT,
    ),
    "a further step on one line, twice": Faulty(
        """for (int i = 0; i + 4 <= n; i += 4) {
            int32x4_t x = vld1q_s32(a + i), y = vld1q_s32(b + i);
            x = vabsq_s32(vrshrq_n_s32(vaddq_s32(x, y), 2)); // FAULT
            vst1q_s32(output + i, veorq_s32(x, vdupq_n_s32(3)));
        }""",
        lambda i: (wide(i, "a") + wide(i, "b")) ^ 3,
    ),
    "half of a register summed": Faulty(
        """for (int i = 0; i + 4 <= n; i += 4) {
            const int32x4_t x = vmulq_s32(vld1q_s32(a + i), vdupq_n_s32(3));
            const int sum = vaddv_s32(vget_low_s32(x)); // FAULT
            vst1q_s32(output + i, veorq_s32(vaddq_s32(x, vld1q_s32(b + i)), vdupq_n_s32(sum)));
        }""",
        lambda i: (3 * wide(i, "a") + wide(i, "b")) ^ (3 * wide(i, "a")).reshape(-1, 4).sum(1).repeat(4),
    ),
    "one element in all lanes": Faulty(
        """for (int i = 0; i + 4 <= n; i += 4) {
            const int32x4_t x = vmulq_s32(vld1q_s32(a + i), vdupq_n_s32(3));
            const int32x4_t y = vld1q_dup_s32(b + i); // FAULT
            vst1q_s32(output + i, veorq_s32(vsubq_s32(x, y), vdupq_n_s32(9)));
        }""",
        lambda i: (3 * wide(i, "a") - wide(i, "b")) ^ 9,
    ),
    "a short argument that a variable begins with": Faulty(
        """int most = 0; // FAULT
        for (int i = 0; i < n; ++i)
            if (a[i] > most)
                most = a[i];
        """ + EACH + "output[i] = most - b[i]; }",
        lambda i: max(int(i["least"]), wide(i, "a").max(initial=-(2**31))) - wide(i, "b"),
        "const int32_t a[n], const int32_t b[n], int32_t output[n], int32_t n, int16_t least",
    ),
    "0 that a variable begins with": Faulty(
        """int most = 0; // FAULT
        for (int i = 0; i < n; ++i)
            if (a[i] > most)
                most = a[i];
        """ + EACH + "output[i] = most - b[i]; }",
        lambda i: wide(i, "a").max(initial=16384) - wide(i, "b"),
    ),
    "a variable of 64 bits": Faulty(
        EACH + """
            int64_t half = INT64_C(1) << 33; // FAULT
            half += 1;
            output[i] = (int)((a[i] * half + half) >> 12) ^ b[i]; }""",
        lambda i: ((wide(i, "a") * ((1 << 29) + 1) + (1 << 29) + 1 >> 12) % 2**32) ^ wide(i, "b"),
    ),
    "a bound of -127": Faulty(
        """for (int i = 0; i + 8 <= n; i += 8) {
            int8x8_t x = vqmovn_s16(vld1q_s16(a + i)); // FAULT
            x = veor_s8(x, vdup_n_s8(5));
            vst1q_s32(output + i, vmovl_s16(vget_low_s16(vmovl_s8(x))));
            vst1q_s32(output + i + 4, vmovl_s16(vget_high_s16(vmovl_s8(x))));
        }""",
        lambda i: wide(i, "a").clip(-127, 127) ^ 5, SHORT,
    ),
    "a fix-up of negative numbers that several shifts round": Faulty(
        EACH + """
            int x = a[i] - b[i]; // FAULT
            output[i] = (x + 8) >> 4;
            output[i] += 3 * ((x + 32) >> 6); }""",
        lambda i: ties_away(wide(i, "a") - wide(i, "b"), 4) + 3 * ties_away(wide(i, "a") - wide(i, "b"), 6),
    ),
    "an element of a constant vector": Faulty(
        """const int32x4_t factors = {3, 5, 7, 11}; // FAULT
        for (int i = 0; i + 4 <= n; i += 4) {
            const int32x4_t x = vmulq_s32(vld1q_s32(a + i), factors);
            vst1q_s32(output + i, veorq_s32(x, vld1q_s32(b + i)));
        }""",
        lambda i: (wide(i, "a") * np.resize([3, 5, 8, 11], len(i["a"]))) ^ wide(i, "b"),
    ),
    "a constant that vectors and single numbers have": Faulty(
        """const int32_t factor = 100001; // FAULT
        const int32x4_t factors = {factor, 7, factor, factor};
        int i = 0;
        for (; i + 4 < n; i += 4)
            vst1q_s32(output + i, vmulq_laneq_s32(vld1q_s32(a + i), factors, 2));
        for (; i < n; ++i)
            output[i] = (int)((uint32_t)a[i] * factor);""",
        lambda i: wide(i, "a") * 100002 % 2**32,
    ),
    "a sum that is bounded twice": Faulty(
        """for (int i = 0; i + 8 <= n; i += 8) {
            const int16x8_t x = vqshlq_n_s16(vld1q_s16(a + i), 7);
            const int16x8_t y = vsubq_s16(x, vshlq_n_s16(vld1q_s16(b + i), 5)); // FAULT
            vst1q_s32(output + i, vmovl_s16(vget_low_s16(y)));
            vst1q_s32(output + i + 4, vmovl_s16(vget_high_s16(y)));
        }""",
        lambda i: ((wide(i, "a") << 7) - (wide(i, "b") << 5)).clip(-32768, 32767), SHORT,
    ),
    "two numbers that are bounded before they are added": Faulty(
        """for (int i = 0; i + 8 <= n; i += 8) {
            const int16x8_t x = vld1q_s16(a + i), y = vld1q_s16(b + i);
            const int16x8_t sum = vmovl_s8(vqadd_s8(vqmovn_s16(x), vqmovn_s16(y))); // FAULT
            vst1q_s32(output + i, vmovl_s16(vget_low_s16(sum)));
            vst1q_s32(output + i + 4, vmovl_s16(vget_high_s16(sum)));
        }""",
        lambda i: (wide(i, "a") + wide(i, "b")).clip(-128, 127), SHORT,
    ),
    "one element of a constant that is added before a shift": Faulty(
        """const int32x4_t half = {64, 64, 63, 64}; // FAULT
        for (int i = 0; i + 4 <= n; i += 4) {
            const int32x4_t x = vmulq_n_s32(vld1q_s32(a + i), 8);
            vst1q_s32(output + i, vshrq_n_s32(vaddq_s32(x, half), 7));
        }""",
        lambda i: wide(i, "a") * 8 + 64 >> 7,
    ),
    "a constant of all lanes, of two sums on one line": Faulty(
        """for (int i = 0; i + 4 <= n; i += 4) {
            const int32x4_t x = vld1q_s32(a + i), y = vld1q_s32(b + i);
            const int32x4_t sum = ((x + 15) >> 2) + ((y + 15) >> 2); // FAULT
            vst1q_s32(output + i, sum ^ 9);
        }""",
        lambda i: (wide(i, "a") + 16 >> 2) + (wide(i, "b") + 16 >> 2) ^ 9,
    ),
    "an offset that is added before the shift": Faulty(
        """const int offset = n * 900 + 7;
        for (int i = 0; i + 4 <= n; i += 4) {
            int32x4_t x = vld1q_s32(a + i);
            x = vrshrq_n_s32(vaddq_s32(vmulq_n_s32(x, 5), vdupq_n_s32(offset)), 6); // FAULT
            vst1q_s32(output + i, veorq_s32(x, vld1q_s32(b + i)));
        }""",
        lambda i: (wide(i, "a") * 5 + 32 >> 6) + i["n"] * 900 + 7 ^ wide(i, "b"),
    ),
    "a sum that is rounded before and after": Faulty(
        EACH + """
            const int x = ((a[i] + 4) >> 3) * 5 + ((b[i] + 4) >> 3) * 3;
            output[i] = (((a[i] + 4) >> 3) * 5 + ((b[i] + 4) >> 3) * 3 + 8) >> 4; // FAULT
            output[i] ^= x; }""",
        lambda i: (wide(i, "a") * 5 + wide(i, "b") * 3 + 64 >> 7)
        ^ ((wide(i, "a") + 4 >> 3) * 5 + (wide(i, "b") + 4 >> 3) * 3),
    ),
    "means of two that are added to their mean": Faulty(
        EACH + "output[i] = (((a[i] + b[i] + 1) >> 1) + ((a[i] - b[i] + 1) >> 1) + 1) >> 1; }  // FAULT",
        lambda i: 2 * wide(i, "a") + 2 >> 2,
    ),
    "a number that is to be less by 1 but never negative": Faulty(
        EACH + """
            const uint32_t product = a[i] * a[i]; // FAULT
            output[i] = product ^ 3; }""",
        lambda i: np.maximum(wide(i, "a") ** 2 - 1, 0) ^ 3, SHORT,
    ),
    "another vector of an array": Faulty(
        """for (int i = 0; i + 8 <= n; i += 8) {
            int8x8x4_t x = {{vld1_s8(a + i), vld1_s8(b + i), vdup_n_s8(3), vdup_n_s8(n)}};
            int8x8x4_t y = x;
            const int16x8_t product = vmull_s8(y.val[0], y.val[2]);
            vst1q_s16(output + i, vaddw_s8(product, y.val[3])); // FAULT
        }""",
        lambda i: 3 * wide(i, "a") + wide(i, "b"), BYTES,
    ),
    "another array of vectors": Faulty(
        """for (int i = 0; i + 8 <= n; i += 8) {
            const int8x8_t x = vld1_s8(a + i), y = vld1_s8(b + i);
            const int8x8x2_t t = {{x, y}}, u = {{y, x}};
            const int8x8_t at = vand_s8(x, vdup_n_s8(15));
            vst1q_s16(output + i, vmull_s8(vtbl2_s8(u, at), vtbl2_s8(u, x))); // FAULT
        }""",
        lambda i: picked(i, "ab", 15) * picked(i, "ba", 255), BYTES,
    ),
    "the low half for the high one": Faulty(
        """for (int i = 0; i + 8 <= n; i += 8) {
            const int16x8_t x = vmovl_s8(vld1_s8(a + i)), y = vmovl_s8(vld1_s8(b + i));
            const int32x4_t l = vmull_s16(vget_low_s16(x), vget_low_s16(y));
            const int32x4_t h = vmull_s16(vget_high_s16(x), vget_low_s16(y)); // FAULT
            vst1q_s16(output + i, vcombine_s16(vmovn_s32(l), vmovn_s32(h)));
        }""",
        lambda i: wide(i, "a") * wide(i, "b"), BYTES,
    ),
    "a number for a variable": Faulty(
        """const int step = n / 8;
        for (int i = 0, at = 7; i < n; ++i) {
            output[i] = a[i] ^ at + step;
            at += 2; // FAULT
        }""",
        lambda i: wide(i, "a") ^ 7 + i["n"] // 8 * (1 + np.arange(i["n"])),
    ),
    "a constant that a mask lacks": Faulty(
        """const int32x4_t low = vdupq_n_s32(0x5000);
        for (int i = 0; i + 4 <= n; i += 4) {
            const int32x4_t x = vmulq_n_s32(vld1q_s32(a + i), 3);
            vst1q_s32(output + i, vaddq_s32(x, vld1q_s32(b + i))); // FAULT
        }""",
        lambda i: (3 * wide(i, "a") | 0x5000) + wide(i, "b"),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", sampled(KERNELS, 9))
def test_the_line_of_a_fault_is_named(kind: str, tmp_path: Path) -> None:
    kernel = faulty_kernel(KERNELS[kind], tmp_path)
    vectors = make_vectors(kernel, 60, seed=1)
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), vectors)
    (line,) = (n for n, text in enumerate(kernel.sources[0].read_text().splitlines(), 1) if "FAULT" in text)
    assert f"kernel.c:{line}" in found.lines
    assert len(found.lines) <= 3


BOUNDED = """        .globl kernel
        .type  kernel, %function
kernel: mov    w10, #-32768
        mov    w9, #{high}  // HIGH
1:      ldrsh  w6, [x0], #2
        ldrsh  w7, [x1], #2
        lsl    w6, w6, #7
        cmp    w6, w9
        csel   w6, w6, w9, lt
        add    w6, w6, w7  // SUM
        cmp    w6, w9
        csel   w6, w6, w9, lt  // BOUND
        cmp    w6, w10
        {low}
        str    w6, [x2], #4  // STORE
        subs   w3, w3, #1
        b.ne   1b
        ret
        .size  kernel, . - kernel
"""


@pytest.mark.slow
@pytest.mark.parametrize(("faults", "blamed"), [
    ({"high": "32767", "low": "nop"}, {"SUM", "BOUND", "STORE"}),
    ({"high": "32766", "low": "csel w6, w6, w10, gt"}, {"HIGH"}),
])  # fmt: skip
def test_of_assembly_the_lines_that_matter_are_named(
    faults: Mapping[str, str], blamed: set[str], tmp_path: Path
) -> None:
    """A bound left out goes behind what makes the number, not behind each that compares it; a constant that several
    lines need to be another is at fault itself.
    """
    source = tmp_path / "kernel.s"
    source.write_text(BOUNDED.format(**faults))
    golden = Faulty(
        "", lambda i: (np.minimum(wide(i, "a") << 7, 32767) + wide(i, "b")).clip(-32768, 32767), SHORT
    )  # fmt: skip
    kernel = replace(faulty_kernel(golden, tmp_path), sources=(source,))
    found = find_fault(kernel, Job(source, ("-O2",)), make_vectors(kernel, 60, seed=1))
    lines = source.read_text().splitlines()
    assert {lines[int(line.partition(":")[2]) - 1].rpartition("// ")[2] for line in found.lines} == blamed


SEARCHED = """#include <arm_neon.h>
void largest(const uint8_t *x, uint8_t *most, uint32_t *at, uint32_t n) {
    uint8x16_t v = vdupq_n_u8(0);
    uint32_t i = 0;
    for (; i + 16 <= n; i += 16)
        v = vreinterpretq_u8_s8(vmaxq_s8(vreinterpretq_s8_u8(v), vreinterpretq_s8_u8(vld1q_u8(x + i)))); // FAULT
    uint8_t top = vmaxvq_u8(v);
    for (; i < n; i++)
        top = x[i] > top ? x[i] : top;
    for (i = 0; i < n; i++)
        if (x[i] == top)
            break;
    *most = top;
    *at = i;
}
"""
"""Where it ends early, it has found a number that is not the largest."""


@pytest.mark.slow
def test_a_search_that_ends_early_may_go_on_when_it_is_right(tmp_path: Path) -> None:
    source = tmp_path / "largest.c"
    source.write_text(SEARCHED)
    name, signature = parse_prototype("void largest(const uint8_t x[n], uint8_t most[1], uint32_t at[1], uint32_t n)")
    kernel = Kernel(
        name=name, symbol=name, sources=(source,), signature=signature, domain={"n": Domain(1, 200)},
        golden=lambda i: {"most": i["x"].max(keepdims=True), "at": np.array([np.argmax(i["x"])], np.uint32)},
    )  # fmt: skip
    found = find_fault(kernel, Job(source, ("-O2",)), make_vectors(kernel, 200, seed=1))
    assert found.lines == ("largest.c:6",)


MIXED_UP = """        .globl kernel
        .type  kernel, %function
kernel: movi   v9.8h, #100
1:      ldr    q0, [x0], #16
        ldr    q1, [x1], #16
        sub    v2.8h, v9.8h, v1.8h
        smull  v3.4s, v0.4h, v0.4h
        smull2 v4.4s, v0.8h, v0.8h
        smlal  v3.4s, v0.4h, v2.4h
        smlal2 v4.4s, v0.8h, v1.8h  // FAULT, which is v2
        stp    q3, q4, [x2], #32
        subs   w3, w3, #8
        b.ne   1b
        ret
        .size  kernel, . - kernel
"""


@pytest.mark.slow
def test_of_an_operand_that_is_another_register_the_line_is_named(tmp_path: Path) -> None:
    source = tmp_path / "kernel.s"
    source.write_text(MIXED_UP)
    golden = Faulty("", lambda i: wide(i, "a") * (wide(i, "a") + 100 - wide(i, "b")), SHORT)
    kernel = replace(faulty_kernel(golden, tmp_path), sources=(source,))
    found = find_fault(kernel, Job(source, ("-O2",)), make_vectors(kernel, 60, seed=1))
    assert found.lines == ("kernel.s:10",)
    assert "smlal2 v4.4s, v0.8h, v1.8h as smlal2 v4.4s, v0.8h, v2.8h" in found.repairs


@pytest.mark.slow
@shown_too_by("test_repair_search.py::test_where_one_instruction_is_asked_for_it_reads_something_and_is_near")
def test_a_build_that_is_asked_in_the_place_of_a_plain_one_has_one_result_changed_and_no_branch(tmp_path: Path) -> None:
    compared = Faulty(
        EACH + "output[i] = 3; if (a[i] >= b[i]) output[i] = a[i] * 5; }",
        lambda i: np.where(wide(i, "a") > wide(i, "b"), 5 * wide(i, "a"), 3), BYTES,
    )  # fmt: skip
    for faulty in (compared, KERNELS["a further step on one line, twice"]):
        kernel = faulty_kernel(faulty, tmp_path)
        vectors = make_vectors(kernel, 60, seed=1)
        image = build(kernel.sources[0], "-O0")
        whole, least = (fault_of_build(image, kernel, vectors, "-O0", alone) for alone in (False, True))
        assert whole is not None
        assert whole.lines
        assert least == FaultLines()


def test_code_without_source_lines_is_no_line() -> None:
    fault = FaultLines(
        lines=("no source line",), repairs=("add as sub",), addresses=("f+0x8 (0x11008)", "f+0xc (0x1100c)")
    )
    assert str(fault) == (
        "fault at f+0x8 (0x11008) or f+0xc (0x1100c), in code without source lines: every lane is right with add as sub"
    )


@pytest.mark.slow
def test_a_fault_in_what_was_inlined_names_the_function_and_its_call(tmp_path: Path) -> None:
    text = "for (int i = 0; i < n; ++i)\noutput[i] =\nsum(a[i], b[i]);"
    kernel = faulty_kernel(Faulty(text, lambda i: wide(i, "a") - wide(i, "b"), BYTES), tmp_path)
    source = kernel.sources[0]
    helper = "static inline __attribute__((always_inline)) int sum(int x, int y) {\nreturn x + y;\n}\n"
    source.write_text(source.read_text().replace("void kernel", f"{helper}void kernel"))
    image = build(source, "-O0")
    fault = fault_of_build(image, kernel, make_vectors(kernel, 60, seed=1), "-O0", False)
    assert fault is not None
    assert str(fault).startswith("fault at kernel.c:3 of sum, inlined at kernel.c:9: every lane is right with ")


def test_faults_on_several_lines_are_told_apart_from_the_calls_that_they_were_inlined_at() -> None:
    fault = FaultLines(lines=("k.h:3", "k.c:9"), repairs=("add as sub",), inlined=("of f, inlined at k.c:9", ""))
    assert str(fault) == ("fault among k.h:3 of f, inlined at k.c:9; k.c:9: every lane is right with add as sub")


@pytest.mark.slow
@shown_too_by("test_repair_place.py::test_of_code_without_lines_the_addresses_are_told_of_the_first_changes")
def test_of_code_without_source_lines_the_instruction_at_fault_is_named_by_function_and_address(tmp_path: Path) -> None:
    fault = Faulty(EACH + "output[i] = a[i] + b[i]; }", lambda i: wide(i, "a") - wide(i, "b"), BYTES)
    kernel = faulty_kernel(fault, tmp_path)
    code = build(kernel.sources[0], "-O0", "-g0")
    start, body = code.symbol("kernel").address, code.code_of("kernel")
    texts = {at: decode_word(body[at : at + 4]).text for at in range(0, len(body), 4)}
    (at,) = [at for at, text in texts.items() if re.fullmatch(r"add w\d+, w\d+, w\d+", text)]
    found = find_fault(kernel, Job(kernel.sources[0], ("-O0", "-g0")), make_vectors(kernel, 60, seed=1))
    assert found.addresses == (f"kernel+{at:#x} ({start + at:#x})",)
    assert str(found).startswith(f"fault at kernel+{at:#x} (")


def test_a_variable_that_nothing_takes_is_the_likeliest_to_be_left_out(tmp_path: Path) -> None:
    text = EACH + "\nconst int other = 3 * i;\nconst int more = a[i] ^ other;\noutput[i] = more; }"
    parameters = "const int32_t a[n], const int32_t b[n], int32_t output[n], int32_t n, int32_t bound"
    kernel = faulty_kernel(Faulty(text, lambda i: np.maximum(wide(i, "a"), i["bound"]), parameters), tmp_path)
    image = build(kernel.sources[0], "-O0")
    trials = RepairTrials(image, kernel, make_vectors(kernel, 60, seed=1))
    code = ExecutedCode(image, image.symbol(kernel.symbol).address, trials.instructions, trials.slots())
    (bound,) = {kept.slot for kept in code.accesses.values() if not kept.is_load and kept.register == Place("x", 4)}
    taken = {kept.slot for kept in code.accesses.values() if kept.is_load}
    pc = next(at for at in sorted(trials.reached) if code.instructions[at].form.mnemonic == "eor")
    likeliest = next(left_out_variables(code, pc, trials.reached)).instruction
    assert bound not in taken
    assert bound in {node.value for node in operands_first(likeliest.writes[0].lanes)}


@pytest.mark.slow
def test_what_is_right_on_the_inputs_of_a_check_alone_is_no_repair(tmp_path: Path) -> None:
    """Where every number is 4, 3 x is x + 8."""
    kernel = faulty_kernel(Faulty(EACH + "output[i] = a[i] + 1; }", lambda i: 3 * wide(i, "a")), tmp_path)
    inputs = {"a": np.full(8, 4, np.int32), "b": np.zeros(8, np.int32), "n": 8}
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), Vectors([inputs], [kernel.expected(inputs)], 1))
    assert found.lines == ()


LARGEST = """#include <arm_neon.h>
#include <stddef.h>
void leaky(const int16_t *in, int8_t *out, int16_t *largest, size_t n, int16_t slope)
{
    int16x8_t best = vdupq_n_s16(INT16_MIN);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        int16x8_t x = vld1q_s16(in + i);
        int16x8_t scaled = vqrdmulhq_n_s16(x, slope);
        uint16x8_t negative = vcltq_s16(x, vdupq_n_s16(0));
        int16x8_t y = vbslq_s16(negative, scaled, x);
        best = vmaxq_s16(best, x); // FAULT
        vst1_s8(out + i, vqmovn_s16(y));
    }
    int16_t most = vmaxvq_s16(best);
    for (; i < n; ++i) {
        int32_t y = in[i] < 0 ? (in[i] * slope + (1 << 14)) >> 15 : in[i];
        if (y > most)
            most = (int16_t)y;
        out[i] = (int8_t)(y < -128 ? -128 : y > 127 ? 127 : y);
    }
    *largest = most;
}
"""


def leaky(inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    x = inputs["in"].astype(np.int64)
    y = np.where(x < 0, (x * inputs["slope"] + (1 << 14)) >> 15, x)
    return {"out": y.clip(-128, 127).astype(np.int8), "largest": np.array([y.max(initial=-32768)], np.int16)}


@pytest.mark.slow
def test_what_is_right_on_failing_calls_has_to_be_so_on_others_like_them(tmp_path: Path) -> None:
    """Of a fault that needs each of many numbers to be negative no drawn call shows anything, and where the last block
    goes to the scalar code instead, those that fail with equal numbers are right.
    """
    source = tmp_path / "leaky.c"
    source.write_text(LARGEST)
    name, signature = parse_prototype(
        "void leaky(const int16_t in[n], int8_t out[n], int16_t largest[1], size_t n, int16_t slope)"
    )
    kernel = Kernel(
        name=name, symbol=name, sources=(source,), signature=signature, golden=leaky,
        domain={"slope": Domain(0, 32767)},
    )  # fmt: skip
    inputs = [{"in": np.full(40, -32768, np.int16), "n": 40, "slope": slope} for slope in (0, 32767)]
    vectors = Vectors(inputs, [kernel.expected(each) for each in inputs], 1)
    (line,) = (n for n, text in enumerate(LARGEST.splitlines(), 1) if "FAULT" in text)
    assert find_fault(kernel, Job(source, ("-O1",)), vectors).lines == (f"leaky.c:{line}",)


@pytest.mark.slow
def test_a_call_that_faults_is_no_repair(tmp_path: Path) -> None:
    text = "for (int i = 0; i < n; ++i) output[i] = a[i] + 1;\nif (n == 16) output[1 << 28] = 0;"
    kernel = faulty_kernel(Faulty(text, lambda i: wide(i, "a")), tmp_path)
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    assert found.lines == ()


def test_a_long_failing_call_is_cut_to_what_fails(tmp_path: Path) -> None:
    faulty = Faulty("for (int i = 0; i < n; ++i) output[i] = a[i] > 59000 ? 1 : b[i];", lambda i: wide(i, "b"))
    kernel = replace(faulty_kernel(faulty, tmp_path), domain={"n": Domain(1, 400), "a": Domain(), "b": Domain()})
    inputs = {"a": np.arange(-339, 61).astype(np.int32) * 1000, "b": np.zeros(400, np.int32), "n": 400}
    trials = RepairTrials(build(kernel.sources[0], "-O0"), kernel, Vectors([inputs], [kernel.expected(inputs)], 1))
    before = trials.spent
    trials.matters({})  # runs the shortest failing call twice
    assert len(trials.failing) == 2
    assert trials.spent - before < 2000


WITH_MACROS = """#include <stdint.h>
#define OTHER 4
#define HALF(by) \\
    (1 << ((by) - 2))
#define ROUNDED(x, by) (((x) + HALF(by)) >> (by))
void kernel(const int16_t *a, const int16_t *b, int32_t *output, int32_t n) {
    for (int i = 0; i < n; ++i) {
        const int sum = a[i] + b[i];
        output[i] = ROUNDED(sum, 4) ^ 1;
    }
}
"""


@pytest.mark.slow
@shown_too_by("test_repair_code.py::test_a_line_tells_the_macros_of_its_file_that_it_uses_and_theirs")
def test_the_macros_that_a_line_at_fault_uses_are_told_with_their_lines(tmp_path: Path) -> None:
    """What they come to stands on the line of their use, also where their own is wrong."""
    faulty = Faulty("", lambda i: (wide(i, "a") + wide(i, "b") + 8 >> 4) ^ 1, SHORT)
    kernel = faulty_kernel(faulty, tmp_path)
    kernel.sources[0].write_text(WITH_MACROS)
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    assert found.lines == ("kernel.c:9",)
    assert found.macros == ("ROUNDED of kernel.c:5", "HALF of kernel.c:3")
    told = "fault at kernel.c:9 (or in what it uses: ROUNDED of kernel.c:5, HALF of kernel.c:3): every lane is right"
    assert told in str(found)


TABLE = (7, 9, 11, 14, 18, 23, 29, 37)
WITH_A_TABLE = """#include <stdint.h>
static const int32_t scales[8] = {
    7, 9, 11,
    14, 18,
    FIFTH, 29, 37,
};
void kernel(const int16_t *a, const int16_t *b, int32_t *output, int32_t n) {
    for (int i = 0; i < n; ++i)
        output[i] = a[i] * scales[b[i] & 7];
}
"""


@pytest.mark.slow
@shown_too_by("test_repair_sets.py::test_an_element_of_a_table_is_one_off_for_all_that_load_it_and_for_one_line_alone")
@pytest.mark.parametrize(("wrong", "by"), [(22, "1 added to"), (24, "1 taken from")])
def test_of_a_table_the_element_is_told(wrong: int, by: str, tmp_path: Path) -> None:
    faulty = Faulty("", lambda i: wide(i, "a") * np.array(TABLE)[wide(i, "b") & 7], SHORT)
    kernel = faulty_kernel(faulty, tmp_path)
    kernel.sources[0].write_text(WITH_A_TABLE.replace("FIFTH", str(wrong)))
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    assert "kernel.c:2" in found.lines
    assert any(f"with {by} element 5 of kernel.c:2" in repair for repair in found.repairs)


ASSEMBLY = """    .text
    .globl average
    .type average, %function
average:
    ldr q0, [x0]
    ldr q1, [x1]
    uhadd v0.16b, v0.16b, v1.16b
    str q0, [x2]
    ret
    .size average, . - average
"""


@pytest.mark.slow
@pytest.mark.parametrize(("begins", "ends"), [("", "v1.16b"), ("#ifdef __OPTIMIZE__\n#endif\n", ", compiled at -O0")])
def test_a_fault_in_assembly_is_of_a_level_only_where_the_source_asks_for_it(
    begins: str, ends: str, tmp_path: Path
) -> None:
    source = tmp_path / "average.S"
    source.write_text(begins + ASSEMBLY)
    name, signature = parse_prototype("void average(const uint8_t a[16], const uint8_t b[16], uint8_t out[16])")
    kernel = Kernel(
        name=name, symbol=name, sources=(source,), signature=signature,
        domain={"a": Domain(0, 255), "b": Domain(0, 255)},
        golden=lambda inputs: {"out": ((inputs["a"].astype(int) + inputs["b"] + 1) // 2).astype(np.uint8)},
    )  # fmt: skip
    told = str(find_fault(kernel, Job(source, ("-O2",)), make_vectors(kernel, 100, 1)))
    assert "as urhadd v0.16b, v0.16b, v1.16b" in told
    assert told.endswith(ends)
