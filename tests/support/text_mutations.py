"""Damaged texts for the readers of what users bring: prototypes, captured calls, arguments on the command line.

A reader must give a value or its own error, whatever it is given.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from sim.call.captured import Bytes, CaptureError, read_line
from sim.call.single import ArgumentError, read_arguments
from sim.kernels.prototype import PrototypeError, parse_prototype
from sim.replay.run import replay

PROTOTYPES = (
    "void f(const int32_t acc[rows:stride][length], const int32_t *_Nullable bias[length], uint8_t out[rows][length], "
    "size_t rows, size_t stride, size_t length, float scale, struct {int32_t low; uint8_t rest[3];} bounds)",
    "static inline double f(int32x4_t a, inout __fp16 b[16], unsigned long long n);",
    "void f(void)",
    "enum mode { off, on = 4 }; typedef struct { int64_t a; int8_t b[2]; } pair; "
    "union either { pair one; float all[9]; }; "
    "pair f(const union either *p, enum mode m, const float **rows[n][4], inout pair q[n], size_t n, int8x16x2_t v, "
    "int8_t (*op)(int8_t) one_of(relu, NULL), struct { const int32_t *shift[n]; void *none; } s, __bf16 b, "
    "const void *bytes[p.one.a], int8_t out[n] may_be(x), const int8_t x[n] over_read(3) aligned(16), "
    "const struct { uint16_t c : 3, : 0, d : 2; struct { int8_t e[2]; } g[2]; } *w)",
)
ARGUMENTS = (
    "[[1, 2], [3, 4]]", '{"a": 1, "b": [2, 3]}', '{"shift": [1]}', "relu", "1,2,-3", "zeros:4", "null", "0x10", "1e3",
    "7", "nan,inf", "@missing.npy", "",
)  # fmt: skip
SNIPPETS = (
    "[", "]", "(", ")", "{", "}", ",", ":", ";", "*", "const", "struct", "int", "int128_t", "99999999999999999999",
    "-1", "0x", "null", "NaN", "true", '"', "\\", "\x00", "\u2028", "é", "[[[[", "1e999", "rwx", "{}", "[]",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    0, -1, 1, 4096, 0x10000, 0x10004, 0x30FFF, 2**32, 2**63, 2**64 - 1, 2**64, 10**30, 1.5, "0x10000", "x", "", "code",
    "rwx", "0" * 32, None, True, [], {}, [[0, 4096, "rwx"]], [[0x30000, 1 << 40, "rw"]], [0], {"x0": 7},
)  # fmt: skip
CODE = bytes.fromhex("0004008b c0035fd6")  # add x0, x0, x0, lsl #1; ret


def mutated(text: str, rng: Random) -> str:
    """The text with up to four pieces deleted, doubled, swapped or put in."""
    for _ in range(rng.randint(1, 4)):
        at, end = sorted(rng.randint(0, len(text)) for _ in range(2))
        middle = rng.choice(
            ("", text[at:end] * 2, rng.choice(SNIPPETS), text[at:end][::-1], chr(rng.randrange(1, 300)))
        )
        text = text[:at] + middle + text[end:]
    return text[:20_000]


def damaged_call(rng: Random) -> str:
    """The captured call with up to three of its values replaced, or with its text damaged."""
    if rng.random() < 0.3:
        return mutated(json.dumps(captured_call()), rng)
    call = captured_call()
    for _ in range(rng.randint(1, 3)):
        holder: Any = call
        while True:
            key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
            if not isinstance(holder[key], dict | list) or not holder[key] or rng.random() < 0.2:
                break
            holder = holder[key]
        holder[key] = deepcopy(rng.choice(VALUES))
    return json.dumps(call)


def captured_call() -> dict[str, Any]:
    """A small call that replays."""
    return {
        "id": "add", "entry": 0x10000, "ret": 0x20000, "maps": [[0x10000, 4096, "rx"], [0x30000, 4096, "rw"]],
        "mem": [[0x10000, "code"]], "regs": {"x0": 2, "sp": 0x31000}, "vregs": {"v0": "0" * 32}, "fpcr": 0, "nzcv": 4,
        "outputs": [[0x30000, 8, "zeros"]], "final": {"x": [6, *[0] * 29, 0x20000], "sp": 0x31000}, "insns": 2,
    }  # fmt: skip


def save_bytes(folder: Path) -> Path:
    """The .npz of `captured_call`."""
    path = folder / "calls.npz"
    np.savez(path, code=np.frombuffer(CODE, np.uint8), zeros=np.zeros(8, np.uint8))
    return path


def read_prototype(rng: Random) -> None:
    try:
        parse_prototype(mutated(rng.choice(PROTOTYPES), rng)).signature.passed()
    except PrototypeError:
        return


def read_values(rng: Random) -> None:
    signature = parse_prototype(rng.choice(PROTOTYPES)).signature
    texts = [mutated(rng.choice(ARGUMENTS), rng) for _ in signature.arguments]
    try:
        read_arguments(signature, texts)
    except ArgumentError:
        return


def call_reader(data: Bytes) -> Callable[[Random], None]:
    """Reads a damaged line, and replays it where it can still be read."""

    def read(rng: Random) -> None:
        line = read_line(1, damaged_call(rng), data)
        try:
            replay(line, rng.choice(("machine", "emulator", "lockstep")), limit=1000)
        except CaptureError:
            return

    return read


def npz_reader(original: bytes, folder: Path) -> Callable[[Random], None]:
    """Reads a call whose .npz is damaged."""
    path = folder / "damaged.npz"

    def read(rng: Random) -> None:
        damaged = bytearray(original[: rng.randint(0, len(original))] if rng.random() < 0.3 else original)
        for _ in range(rng.randint(1, 8)):
            if damaged:
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            read_line(1, json.dumps(captured_call()), Bytes(path))
        except CaptureError:
            return

    return read
