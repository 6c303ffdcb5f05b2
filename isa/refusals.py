"""What is refused, and in what words: the instructions that stop a run, and the extensions that are not modelled."""

from __future__ import annotations

import re
from typing import NamedTuple

_DEBUGGER = "it stops for a debugger, and there is none here"
TRAP_REASONS = {
    "svc": "it asks an operating system for something, and there is none here",
    "hvc": "it asks a hypervisor for something, and there is none here",
    "smc": "it asks secure firmware for something, and there is none here",
    "brk": _DEBUGGER,
    "hlt": _DEBUGGER,
    "dcps1": _DEBUGGER,
    "dcps2": _DEBUGGER,
    "dcps3": _DEBUGGER,
    "udf": "it is undefined on purpose: it marks a place that no program should reach",
}
"""Why an instruction that raises an exception on purpose ends the run, by mnemonic: "it ..."."""

TRAPS = frozenset(TRAP_REASONS)
"""Mnemonics of the instructions that raise an exception on purpose: executing one raises `sim.Trap`."""

NO_INSTRUCTION = (
    "Capstone 5 knows no such instruction: it is of a newer extension (compile with -march=armv8.6-a), "
    "has operands that Arm forbids, or is data"
)
"""Why a word that no disassembler knows is refused."""


class Extension(NamedTuple):
    """Instructions that are not modelled: a pattern of their whole text, what they belong to, what to do instead."""

    pattern: str
    name: str
    advice: str

    @property
    def reason(self) -> str:
        """One sentence for the user whose program has such an instruction."""
        return f"it belongs to {self.name}, which lanewise does not model: {self.advice}"


_WITHOUT = "compile with -march=armv8.6-a, without +{}"
_CRYPTOGRAPHY = "cryptography is out of its scope, compile without +{}"
_AUTHENTICATION = "compile with -mbranch-protection=none"
EXTENSIONS = (
    Extension(r".*\b(za\d*[hv]?|svcr|tpidr2_el0)\b.*|smst(art|op)|(rd|add)svl|addspl", "SME", _WITHOUT.format("sme")),
    Extension(r".*(?<![#\w])[zp]\d+\b.*", "SVE", _WITHOUT.format("sve")),
    Extension(r"(cnt|[su]?q?inc|[su]?q?dec)[bhwd]|(rd|add)[vp]l|ctermeq|ctermne|setffr", "SVE", _WITHOUT.format("sve")),
    Extension(r"aes\w+", "AES", _CRYPTOGRAPHY.format("aes")),
    Extension(r"sha1\w+", "SHA1", _CRYPTOGRAPHY.format("sha2")),
    Extension(r"sha256\w+", "SHA256", _CRYPTOGRAPHY.format("sha2")),
    Extension(r"sha512\w+", "SHA512", _CRYPTOGRAPHY.format("sha3")),
    Extension(r"sm3\w+", "SM3", _CRYPTOGRAPHY.format("sm4")),
    Extension(r"sm4\w+", "SM4", _CRYPTOGRAPHY.format("sm4")),
    Extension(r"irg|gmi|subps?|addg|subg|ldgm?|stz?gm?|stgp|stz?2g", "MTE", _WITHOUT.format("memtag")),
    Extension(r"(mrs|msr) .*\btco\b.*", "MTE", _WITHOUT.format("memtag")),
    Extension(r"(pac|aut|xpac)\w+|bl?ra[ab]z?|eretaa|eretab|ldra[ab]", "pointer authentication", _AUTHENTICATION),
    Extension(r"cpyf?[pme]\w*|setg?[pme]\w*", "MOPS", _WITHOUT.format("mops")),
    Extension(r"tstart|ttest|tcommit|tcancel", "TME", _WITHOUT.format("tme")),
    Extension(r"(ld|st)64b(v0?)?", "LS64", _WITHOUT.format("ls64")),
    Extension(r"bc\.\w+", "HBC", _WITHOUT.format("hbc")),
    Extension(r"wf[ei]t", "WFxT", _WITHOUT.format("wfxt")),
    Extension(r"dsb \w+nxs", "XS", _WITHOUT.format("xs")),
    Extension(
        r"(mrs|msr) .*\btpidr(ro)?_el0\b.*", "thread-local storage",
        "compile without stack protector (-fno-stack-protector) and without thread-local variables",
    ),
    Extension(
        r"mrs|msr|sysl?|at|dc|ic|tlbi|cfp|cpp|dvp|brb|eret|drps", "the system instructions",
        "run code that leaves the system alone; of the system registers there are FPCR, FPSR and NZCV",
    ),
)  # fmt: skip
"""In order of precedence: the first whose pattern is the text, or the mnemonic alone, names it."""


def extension_of(mnemonic: str, operand_text: str) -> Extension | None:
    """The extension that an instruction which the table lacks belongs to; None where none here has it."""
    text = f"{mnemonic} {operand_text}"
    matches = (e for e in EXTENSIONS if re.fullmatch(e.pattern, mnemonic) or re.fullmatch(e.pattern, text))
    return next(matches, None)
