"""Ciphers and hashes as programs of intrinsics, against the examples of their standards and against hashlib."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import isqrt
from struct import pack, unpack

import pytest

from isa import intrinsics as acle
from isa.decode import decode
from isa.encodings import words_of
from isa.evaluate.exact import Evaluation, Occurrence
from isa.evaluate.smt import Solver
from isa.intrinsics import VectorValue, uint8x16_t, uint32x4_t, uint64x2_t
from isa.lane import U8, U32, pick
from isa.rows import TABLE
from isa.semantics.crypto import aes
from isa.semantics.crypto.words import choose, majority
from sim.prove.claim import Claim, prove

RNG = random.Random(1)
Hash = Callable[[bytes], bytes]
MESSAGES = [
    b"",
    b"abc",
    RNG.randbytes(55),
    RNG.randbytes(56),
    RNG.randbytes(111),
    RNG.randbytes(112),
    RNG.randbytes(300),
]
"""Of lengths at which the padding just fits into the last block, and just does not."""


def padded(message: bytes, block: int) -> list[bytes]:
    """The blocks of a message: a 1 bit, zeros, and the length in bits as a number of an eighth of a block."""
    zeros = -(len(message) + 1 + block // 8) % block
    text = message + b"\x80" + bytes(zeros) + (8 * len(message)).to_bytes(block // 8, "big")
    return [text[i : i + block] for i in range(0, len(text), block)]


def words(block: bytes) -> list[VectorValue]:
    """A block as vectors of four 32-bit numbers, which are big-endian in it."""
    numbers = unpack(f">{len(block) // 4}I", block)
    return [uint32x4_t(*numbers[i : i + 4]) for i in range(0, len(numbers), 4)]


def primes() -> list[int]:
    """The first 80."""
    found: list[int] = []
    candidate = 2
    while len(found) < 80:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found


def cube_root(number: int) -> int:
    """Rounded down."""
    low, high = 0, 1 << number.bit_length() // 3 + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**3 <= number else (low, middle)
    return low


def roots(bits: int, count: int) -> list[int]:
    """The first bits of the fractions of the square roots of the first primes: where SHA-2 begins."""
    return [isqrt(prime << 2 * bits) % (1 << bits) for prime in primes()[:count]]


def cube_roots(bits: int, count: int) -> list[int]:
    """The same of cube roots: the constants of SHA-2's rounds."""
    return [cube_root(prime << 3 * bits) % (1 << bits) for prime in primes()[:count]]


# AES.


def substituted(word: bytes) -> bytes:
    """Each byte by the S-box: in equal columns AESE moves nothing."""
    return bytes(acle.vaeseq_u8(uint8x16_t(*word * 4), uint8x16_t(*bytes(16))).lanes[:4])


def round_keys(key: bytes) -> list[VectorValue]:
    """The 11, 13 or 15 round keys (FIPS 197, 5.2)."""
    length, constant = len(key) // 4, 1
    found = [key[i : i + 4] for i in range(0, len(key), 4)]
    while len(found) < 4 * (length + 7):
        word = found[-1]
        if len(found) % length == 0:
            word = substituted(word[1:] + word[:1])
            word = bytes([word[0] ^ constant, *word[1:]])
            constant = constant << 1 ^ (constant >> 7) * 0x11B
        elif length == 8 and len(found) % length == 4:
            word = substituted(word)
        found.append(bytes(a ^ b for a, b in zip(found[-length], word, strict=True)))
    return [uint8x16_t(*b"".join(found[i : i + 4])) for i in range(0, len(found), 4)]


def encrypted(block: bytes, keys: Sequence[VectorValue]) -> bytes:
    state = uint8x16_t(*block)
    for key in keys[:-2]:
        state = acle.vaesmcq_u8(acle.vaeseq_u8(state, key))
    last = acle.veorq_u8(acle.vaeseq_u8(state, keys[-2]), keys[-1])
    return bytes(last.lanes)


def decrypted(block: bytes, keys: Sequence[VectorValue]) -> bytes:
    """The equivalent inverse cipher, with AESIMC on state and keys (FIPS 197, 5.3.5)."""
    state = uint8x16_t(*block)
    inverse = [keys[-1], *map(acle.vaesimcq_u8, keys[-2:0:-1])]
    for key in inverse[:-1]:
        state = acle.vaesimcq_u8(acle.vaesdq_u8(state, key))
    last = acle.veorq_u8(acle.vaesdq_u8(state, inverse[-1]), keys[0])
    return bytes(last.lanes)


PLAIN = bytes.fromhex("00112233445566778899aabbccddeeff")
FIPS_197 = [
    (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
    (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
    (32, "8ea2b7ca516745bfeafc49904b496089"),
]
"""FIPS 197, C.1 to C.3: the key is the bytes 0, 1, 2, ..."""


@pytest.mark.parametrize(("length", "cipher"), FIPS_197)
def test_aes_encrypts_as_in_fips_197(length: int, cipher: str) -> None:
    assert encrypted(PLAIN, round_keys(bytes(range(length)))).hex() == cipher


@pytest.mark.parametrize(("length", "cipher"), FIPS_197)
def test_aes_decrypts_as_in_fips_197(length: int, cipher: str) -> None:
    assert decrypted(bytes.fromhex(cipher), round_keys(bytes(range(length)))) == PLAIN


# SHA-1 and SHA-2.


def sha1(message: bytes) -> bytes:
    abcd, e = uint32x4_t(0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476), 0xC3D2E1F0
    functions = (acle.vsha1cq_u32, acle.vsha1pq_u32, acle.vsha1mq_u32, acle.vsha1pq_u32)
    constants = (0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6)
    for block in padded(message, 64):
        w, before = words(block), (abcd, e)
        for four in range(20):
            total = acle.vaddq_u32(w[0], acle.vdupq_n_u32(constants[four // 5]))
            next_e = acle.vsha1h_u32(abcd.lanes[0])
            abcd, e = functions[four // 5](abcd, e, total), next_e
            w = [*w[1:], acle.vsha1su1q_u32(acle.vsha1su0q_u32(*w[:3]), w[3])]
        abcd, e = acle.vaddq_u32(abcd, before[0]), (e + before[1]) % 2**32
    return pack(">5I", *abcd.lanes, e)


def sha256(message: bytes) -> bytes:
    first, constants = roots(32, 8), cube_roots(32, 64)
    abcd, efgh = uint32x4_t(*first[:4]), uint32x4_t(*first[4:])
    for block in padded(message, 64):
        w, before = words(block), (abcd, efgh)
        for t in range(0, 64, 4):
            total = acle.vaddq_u32(w[0], uint32x4_t(*constants[t : t + 4]))
            abcd, efgh = acle.vsha256hq_u32(abcd, efgh, total), acle.vsha256h2q_u32(efgh, abcd, total)
            w = [*w[1:], acle.vsha256su1q_u32(acle.vsha256su0q_u32(w[0], w[1]), w[2], w[3])]
        abcd, efgh = acle.vaddq_u32(abcd, before[0]), acle.vaddq_u32(efgh, before[1])
    return pack(">8I", *abcd.lanes, *efgh.lanes)


def sha512(message: bytes) -> bytes:
    first, constants = roots(64, 8), cube_roots(64, 80)
    state = [uint64x2_t(*first[i : i + 2]) for i in range(0, 8, 2)]
    for block in padded(message, 128):
        numbers, before = unpack(">16Q", block), state
        w = [uint64x2_t(*numbers[i : i + 2]) for i in range(0, 16, 2)]
        for t in range(0, 80, 2):
            ab, cd, ef, gh = state
            total = acle.vaddq_u64(w[0], uint64x2_t(*constants[t : t + 2]))
            sums = acle.vaddq_u64(gh, acle.vextq_u64(total, total, 1))
            sums = acle.vsha512hq_u64(sums, acle.vextq_u64(ef, gh, 1), acle.vextq_u64(cd, ef, 1))
            state = [acle.vsha512h2q_u64(sums, cd, ab), ab, acle.vaddq_u64(cd, sums), ef]
            seven_before = acle.vextq_u64(w[4], w[5], 1)
            w = [*w[1:], acle.vsha512su1q_u64(acle.vsha512su0q_u64(w[0], w[1]), w[7], seven_before)]
        state = [acle.vaddq_u64(a, b) for a, b in zip(state, before, strict=True)]
    return pack(">8Q", *(lane for vector in state for lane in vector.lanes))


@pytest.mark.parametrize("message", MESSAGES, ids=len)
def test_sha_1_is_that_of_hashlib(message: bytes) -> None:
    assert sha1(message) == hashlib.sha1(message, usedforsecurity=False).digest()


@pytest.mark.parametrize("message", MESSAGES, ids=len)
def test_sha_256_is_that_of_hashlib(message: bytes) -> None:
    assert sha256(message) == hashlib.sha256(message).digest()


@pytest.mark.parametrize("message", MESSAGES, ids=len)
def test_sha_512_is_that_of_hashlib(message: bytes) -> None:
    assert sha512(message) == hashlib.sha512(message).digest()


FIPS_180 = [
    (sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
        sha512,
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ),
]


@pytest.mark.parametrize(("function", "digest"), FIPS_180, ids=["sha1", "sha256", "sha512"])
def test_sha_of_abc_is_that_of_fips_180(function: Hash, digest: str) -> None:
    assert function(b"abc").hex() == digest


# SHA-3.


def keccak_constants() -> list[int]:
    """Of the 24 rounds: bits of a shift register, x^8 + x^6 + x^5 + x^4 + 1, at places 2^j - 1 (FIPS 202, 3.2.5)."""

    def register() -> Iterator[int]:
        state = 1
        while True:
            yield state & 1
            state = state << 1 ^ (state >> 7) * 0x171

    bits = register()
    return [sum(bit << (1 << j) - 1 for j, bit in enumerate(islice(bits, 7))) for _ in range(24)]


def keccak(lanes: list[VectorValue]) -> list[VectorValue]:
    """Keccak-f[1600], lane x, y at 5 y + x; both elements of the vectors are separate states."""
    for constant in keccak_constants():
        column = [
            acle.veor3q_u64(acle.veor3q_u64(lanes[x], lanes[x + 5], lanes[x + 10]), lanes[x + 15], lanes[x + 20])
            for x in range(5)
        ]
        theta = [acle.vrax1q_u64(column[(x + 4) % 5], column[(x + 1) % 5]) for x in range(5)]
        moved = [acle.veorq_u64(lanes[0], theta[0])] * 25
        x, y = 1, 0
        for t in range(24):
            left = (t + 1) * (t + 2) // 2 % 64
            moved[5 * ((2 * x + 3 * y) % 5) + y] = acle.vxarq_u64(lanes[5 * y + x], theta[x], -left % 64)
            x, y = y, (2 * x + 3 * y) % 5
        rows = [moved[5 * y : 5 * y + 5] for y in range(5)]
        lanes = [acle.vbcaxq_u64(row[x], row[(x + 2) % 5], row[(x + 1) % 5]) for row in rows for x in range(5)]
        lanes[0] = acle.veorq_u64(lanes[0], acle.vdupq_n_u64(constant))
    return lanes


def sha3_256(message: bytes) -> bytes:
    rate = 136
    text = bytearray(message + b"\x06" + bytes(-(len(message) + 1) % rate))
    text[-1] ^= 0x80
    state = [uint64x2_t(0, 0)] * 25
    for at in range(0, len(text), rate):
        block = [*unpack("<17Q", text[at : at + rate]), *[0] * 8]
        state = keccak([acle.veorq_u64(lane, uint64x2_t(word, 0)) for lane, word in zip(state, block, strict=True)])
    return pack("<4Q", *(lane.lanes[0] for lane in state[:4]))


@pytest.mark.parametrize("message", [b"", b"abc", bytes(range(136))], ids=len)
def test_sha_3_is_that_of_hashlib(message: bytes) -> None:
    assert sha3_256(message) == hashlib.sha3_256(message).digest()


# SM3 and SM4.


def sm3(message: bytes) -> bytes:
    """A and E are highest in their vectors, so state and result are written from H to E and from D to A."""
    first = bytes.fromhex("7380166f4914b2b9172442d7da8a0600a96f30bc163138aae38dee4db0fb0e4e")
    abcd, efgh = (uint32x4_t(*reversed(vector.lanes)) for vector in words(first))
    for block in padded(message, 64):
        w, before = words(block), (abcd, efgh)
        for t in range(0, 64, 4):
            primed, half = acle.veorq_u32(w[0], w[1]), "a" if t < 16 else "b"
            for i in range(4):
                sums = acle.vsm3ss1q_u32(abcd, efgh, uint32x4_t(0, 0, 0, sm3_constant(t + i)))
                abcd = acle.intrinsic(f"vsm3tt1{half}q_u32")(abcd, sums, primed, i)
                efgh = acle.intrinsic(f"vsm3tt2{half}q_u32")(efgh, sums, w[0], i)
            w = [*w[1:], sm3_schedule(w)]
        abcd, efgh = acle.veorq_u32(abcd, before[0]), acle.veorq_u32(efgh, before[1])
    return pack(">8I", *reversed(abcd.lanes), *reversed(efgh.lanes))


def sm3_constant(t: int) -> int:
    """That of round t, rotated left by t."""
    twice = (0x79CC4519 if t < 16 else 0x7A879D8A) * (2**32 + 1)
    return (twice << t % 32 >> 32) % 2**32


def sm3_schedule(w: Sequence[VectorValue]) -> VectorValue:
    """The four words after the sixteen of `w`."""
    part = acle.vsm3partw1q_u32(w[0], acle.vextq_u32(w[1], w[2], 3), w[3])
    new: VectorValue = acle.vsm3partw2q_u32(part, acle.vextq_u32(w[2], w[3], 2), acle.vextq_u32(w[0], w[1], 3))
    return new


def sm4_round_keys(key: bytes) -> list[VectorValue]:
    family = bytes.fromhex("a3b1bac656aa3350677d9197b27022dc")
    (state,) = words(bytes(a ^ b for a, b in zip(key, family, strict=True)))
    constants = words(bytes(7 * i % 256 for i in range(128)))
    return [state := acle.vsm4ekeyq_u32(state, four) for four in constants]


def sm4(block: bytes, keys: Sequence[VectorValue]) -> bytes:
    (state,) = words(block)
    for four in keys:
        state = acle.vsm4eq_u32(state, four)
    return pack(">4I", *reversed(state.lanes))


def test_sm3_of_abc_is_that_of_the_standard() -> None:
    """GB/T 32905-2016, A.1."""
    assert sm3(b"abc").hex() == "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0"


def test_sm3_of_two_blocks_is_that_of_the_standard() -> None:
    """GB/T 32905-2016, A.2: 64 bytes of text."""
    assert sm3(b"abcd" * 16).hex() == "debe9ff92275b8a138604889c18e5a4d6fdb70e5387e5765293dcba39c0c5732"


SM4_KEY = bytes.fromhex("0123456789abcdeffedcba9876543210")
SM4_CIPHER = bytes.fromhex("681edf34d206965e86b3e94f536e4246")


def test_sm4_encrypts_as_in_the_standard() -> None:
    """GB/T 32907-2016, A.1: the key is the plain text too."""
    assert sm4(SM4_KEY, sm4_round_keys(SM4_KEY)) == SM4_CIPHER


def test_sm4_decrypts_with_the_round_keys_reversed() -> None:
    backwards = [uint32x4_t(*reversed(four.lanes)) for four in reversed(sm4_round_keys(SM4_KEY))]
    assert sm4(SM4_CIPHER, backwards) == SM4_KEY


# For all inputs.

WORDS = {"x": U32, "y": U32, "z": U32}
CLAIMS = [
    Claim(
        "AESD substitutes what AESE substituted back", {"byte": U8},
        lambda byte: pick(pick(byte, aes.substitutes(), 0), aes.originals(), 0), lambda byte: byte,
    ),
    Claim("choose is Ch of FIPS 180-4", WORDS, choose, lambda x, y, z: U32.wrap((x & y) ^ (~x & z))),
    Claim("majority is Maj of FIPS 180-4", WORDS, majority, lambda x, y, z: (x & y) ^ (x & z) ^ (y & z)),
]  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_what_is_claimed_holds_for_all_inputs(claim: Claim) -> None:
    assert prove(claim, 60).outcome == "proved"


def test_aesimc_undoes_aesmc_on_every_bit_and_so_on_every_state() -> None:
    """Both are linear: exclusive or of shifted bits."""
    states = [uint8x16_t.of_bits(1 << i) for i in range(128)]
    assert [acle.vaesimcq_u8(acle.vaesmcq_u8(state)).bits for state in states] == [state.bits for state in states]


NAMES = [form.name for form in TABLE.forms.values() if {"aes", "sha2", "sha512", "sm4"}.intersection(form.features)]


@pytest.mark.parametrize("name", NAMES)
def test_the_solver_reads_a_form_as_the_exact_evaluator_does(name: str) -> None:
    rng, instruction = random.Random(name), decode(words_of(name)[0].to_bytes(4, "little"))
    terms = Solver(time.monotonic() + 60).terms
    for lane in instruction.lanes:
        terms.term(lane)
    registers = {place: rng.getrandbits(128) for place in instruction.places_read}
    exact = Evaluation(Occurrence(instruction, registers, {}))
    found = [terms.evaluated(lane, {place: registers[place] for place in terms.inputs}) for lane in instruction.lanes]
    assert found == [exact.value(lane) for lane in instruction.lanes]
