"""Words that Capstone 5 does not know are refused by the name of what has their encoding, as the assembler has it."""

from __future__ import annotations

import subprocess
from random import Random

import pytest
from elftools.elf.elffile import ELFFile

from isa.decode import decode, disassemble, no_instruction
from isa.decode.encoding_classes import _CLASSES
from isa.table import UnknownInstruction
from sim.toolchain.compilers import clang_command

# By what clang calls an extension: the name that a refusal has, and instructions of it.
INSTRUCTIONS = {
    "sve2p1": ("SVE", "addqv v0.16b, p0, z1.b; luti2 z0.b, {z1.b}, z2[1]; fclamp z0.s, z1.s, z2.s"),
    "sme2": ("SME", "luti2 z0.b, zt0, z1[0]; ldr zt0, [x0]; fmla za.s[w8, 0, vgx2], {z0.s, z1.s}, z2.s"),
    "cssc": ("CSSC", "abs x0, x1; cnt w0, w1; ctz x0, x1; smax x0, x1, #-5; umax w0, w1, #9; smin w0, w1, w2; "
                     "umin x0, x1, x2; smax x3, x4, x5; umin w0, w1, #255"),
    "lse128": ("LSE128", "ldclrp x0, x1, [x2]; ldsetpal x0, x1, [x2]; swpp x0, x1, [x2]; swppa x3, x4, [sp]"),
    "the": ("THE", "rcwcas x0, x1, [x2]; rcwscas x0, x1, [x2]; rcwswp x0, x1, [x2]; "
                   "rcwset x0, x1, [x2]; rcwsclral x0, x1, [x2]"),
    "the+d128": ("THE", "rcwcasp x0, x1, x2, x3, [x4]; rcwclrp x0, x1, [x2]; rcwsswpp x0, x1, [x2]; "
                        "rcwsetpl x0, x1, [x2]"),
    "rcpc3": ("LRCPC3", "ldiapp x0, x1, [x2]; ldiapp w0, w1, [x2], #8; stilp x0, x1, [x2, #-16]!; ldapr x0, [x1], #8; "
                        "stlr x0, [x1, #-8]!; ldapur q0, [x1, #1]; stlur b0, [x1, #-1]; ldap1 {v0.d}[1], [x1]; "
                        "stl1 {v0.d}[0], [x1]"),
    "d128": ("D128", "mrrs x0, x1, ttbr0_el1; msrr ttbr0_el1, x0, x1; sysp #0, c8, c7, #0, x0, x1"),
    "pauth-lr": ("PAuth_LR", "autiasppc .; autibsppc .; autiasppcr x0; pacnbiasppc; pacia171615; retaasppc .; "
                             "retabsppc .; retaasppcr x0; retabsppcr x3"),
    "cpa": ("CPA", "addpt x0, x1, x2; subpt x0, x1, x2, lsl #3; maddpt x0, x1, x2, x3; msubpt x0, x1, x2, x3"),
    "cmpbr": ("CMPBR", "cbgt x0, x1, .; cbeq w0, #5, .; cbbhi w0, w1, .; cbhne w0, w1, .; cblo x0, #63, ."),
    "lsui": ("LSUI", "ldtxr x0, [x1]; sttxr w0, x1, [x2]; cast x0, x1, [x2]; caspt x0, x1, x2, x3, [x4]; "
                     "ldtadd x0, x1, [x2]; swpt w0, w1, [x2]; ldtp x0, x1, [x2]; sttp q0, q1, [x2], #32; "
                     "ldtnp x0, x1, [x2]"),
    "lsfe": ("LSFE", "ldfadd s0, s1, [x2]; stfmaxnm d0, [x2]; ldbfadd h0, h1, [x2]; ldfminnmal h0, h1, [x2]"),
    "gcs": ("GCS", "gcsstr x0, [x1]; gcssttr x0, [x1]"),
    "memtag": ("MTE", "stgp x0, x1, [x2, #16]; stgp x0, x1, [x2], #16; stgp x0, x1, [x2, #-16]!"),
    "fp8": ("FP8", "f1cvtl v0.8h, v1.8b; f2cvtl2 v0.8h, v1.16b; bf1cvtl2 v0.8h, v1.16b; bf2cvtl v0.8h, v1.8b; "
                   "fcvtn v0.16b, v1.8h, v2.8h; fcvtn v0.8b, v1.4s, v2.4s; fcvtn2 v0.16b, v1.4s, v2.4s; "
                   "fscale v0.4s, v1.4s, v2.4s; fscale v0.2d, v1.2d, v2.2d; fscale v0.8h, v1.8h, v2.8h"),
    "fp8dot4": ("FP8", "fdot v0.4s, v1.16b, v2.16b; fdot v0.4s, v1.16b, v2.4b[3]"),
    "fp8dot2": ("FP8", "fdot v0.4h, v1.8b, v2.8b; fdot v0.8h, v1.16b, v2.2b[7]"),
    "fp8fma": ("FP8", "fmlalb v0.8h, v1.16b, v2.16b; fmlalt v0.8h, v1.16b, v2.b[15]; fmlallbb v0.4s, v1.16b, v2.16b; "
                      "fmlalltt v0.4s, v1.16b, v2.16b; fmlallbt v0.4s, v1.16b, v2.b[9]; "
                      "fmlalltb v0.4s, v1.16b, v2.b[1]"),
    "f8f32mm": ("F8F32MM", "fmmla v0.4s, v1.16b, v2.16b"),
    "f8f16mm": ("F8F16MM", "fmmla v0.8h, v1.16b, v2.16b"),
    "f16f32mm": ("F16F32MM", "fmmla v0.4s, v1.8h, v2.8h"),
    "faminmax": ("FAMINMAX", "famax v0.4s, v1.4s, v2.4s; famin v0.8h, v1.8h, v2.8h; famax v0.2d, v1.2d, v2.2d; "
                             "famin v0.2s, v1.2s, v2.2s"),
    "lut": ("LUT", "luti2 v0.16b, {v1.16b}, v2[1]; luti2 v0.8h, {v1.8h}, v2[7]; luti4 v0.16b, {v1.16b}, v2[1]; "
                   "luti4 v0.8h, {v1.8h, v2.8h}, v3[3]"),
    "fprcvt": ("FPRCVT", "; ".join(f"fcvt{way}{sign} {kinds}" for way in "npmza" for sign in "su"
                                   for kinds in ("s0, d1", "d0, s1", "s0, h1", "d0, h1"))
               + "; scvtf d0, s1; ucvtf s0, d1; scvtf h0, s1; ucvtf h0, d1"),
    "mops": ("MOPS", "cpyfp [x0]!, [x1]!, x2!; cpymwtn [x0]!, [x1]!, x2!; setp [x0]!, x1!, x2; sete [x0]!, x1!, x2"),
    "mops+mops-go+memtag": ("MOPS_GO", "setgop [x0]!, x1!; setgom [x0]!, x1!; setgoen [x0]!, x1!"),
    "pauth": ("pointer authentication", ".inst 0xf8201c21"),
    "ls64": ("LS64", "ld64b x0, [x1]; st64bv0 x1, x2, [x3]"),
}  # fmt: skip


@pytest.fixture(scope="module")
def assembled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """What clang makes of each instruction."""
    texts = [text for _, listed in INSTRUCTIONS.values() for text in listed.split("; ")]
    source = tmp_path_factory.mktemp("classes") / "words.s"
    target = source.with_suffix(".o")
    source.write_text("\n".join([*texts, ""]))
    march = "+".join(["-march=armv9.5-a+fp16", *INSTRUCTIONS])
    subprocess.run([*clang_command(), march, "-c", str(source), "-o", str(target)], check=True, capture_output=True)
    with target.open("rb") as file:
        code = ELFFile(file).get_section_by_name(".text").data()
    words = [int.from_bytes(code[at : at + 4], "little") for at in range(0, len(code), 4)]
    return dict(zip(texts, words, strict=True))


def reason_of(word: int) -> str:
    with pytest.raises(UnknownInstruction) as caught:
        decode(word.to_bytes(4, "little"))
    return caught.value.reason


@pytest.mark.parametrize("option", INSTRUCTIONS)
def test_an_instruction_of_a_newer_extension_is_refused_by_its_name(assembled: dict[str, int], option: str) -> None:
    name, texts = INSTRUCTIONS[option]
    reasons = {text: reason_of(assembled[text]) for text in texts.split("; ")}
    named = f"it belongs to {name}, which lanewise does not model: compile with"
    assert {text: reason for text, reason in reasons.items() if not reason.startswith(named)} == {}


def test_every_class_of_encodings_has_an_instruction_here(assembled: dict[str, int]) -> None:
    unread = [word for word in assembled.values() if disassemble(word.to_bytes(4, "little"))[0] == ".word"]
    met = {next(known for known in _CLASSES if word & known.mask == known.value) for word in unread}
    assert [f"{known.name} {known.value:08x}" for known in _CLASSES if known not in met] == []


@pytest.mark.parametrize(
    ("word", "group"),
    [
        (0x00010000, "the reserved words"),
        (0x02000000, "the words that Arm has left free"),
        (0x12800000 | 1 << 30 | 1 << 22, "data processing with an immediate"),
        (0xD503303F, "branches, exceptions and system instructions"),
        (0x0C000000 | 1 << 21, "loads and stores"),
        (0x5AC0FC00, "data processing with registers"),
        (0xFFFFFFFF, "floating point and AdvSIMD"),
    ],
)
def test_another_word_is_refused_by_the_name_of_its_group(word: int, group: str) -> None:
    assert f"among {group} it is unallocated" in no_instruction(word)


@pytest.mark.parametrize("seed", range(4))
def test_every_word_has_a_reason(seed: int) -> None:
    rng = Random(seed)
    reasons = {no_instruction(rng.getrandbits(32)).partition(",")[0] for _ in range(5000)}
    assert len(reasons) > 10
