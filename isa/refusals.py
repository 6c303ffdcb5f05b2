"""What is refused, and in what words: instructions that stop a run, extensions that are not modelled, intrinsics."""

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
    "Capstone 5 knows no such instruction: among {group} it is unallocated, of a newer extension "
    "(compile with -march=armv8.6-a), or data"
)
"""Why a word is refused that no disassembler knows and no extension here has; `group` is where it would belong."""


class Extension(NamedTuple):
    """What is not modelled: a pattern of an instruction's text or an intrinsic's name, its extension, what to do."""

    pattern: str
    name: str
    advice: str

    @property
    def reason(self) -> str:
        """One sentence for the user whose program has such an instruction."""
        return f"it belongs to {self.name}, which lanewise does not model: {self.advice}"


_WITHOUT = "compile with -march=armv8.6-a, without +{}"
_AUTHENTICATION = "compile with -mbranch-protection=none"
EXTENSIONS = (
    Extension(r".*\b(za\d*[hv]?|svcr|tpidr2_el0)\b.*|smst(art|op)|(rd|add)svl|addspl", "SME", _WITHOUT.format("sme")),
    Extension(r".*(?<![#\w])[zp]\d+\b.*", "SVE", _WITHOUT.format("sve")),
    Extension(r"(cnt|[su]?q?inc|[su]?q?dec)[bhwd]|(rd|add)[vp]l|ctermeq|ctermne|setffr", "SVE", _WITHOUT.format("sve")),
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
        r"mrs|msr|sysl?|at|dc|ic|tlbi|cfp|cpp|dvp|brb|eret|drps", "the system instructions",
        "run code that leaves the system alone; of the system registers there are FPCR, FPSR, NZCV and TPIDR_EL0",
    ),
)  # fmt: skip
"""In order of precedence: the first whose pattern is the text, or the mnemonic alone, names it."""

_OLDER = "use intrinsics that compile with -march=armv8.6-a"
INTRINSICS = (
    Extension(r".*mf8.*", "FEAT_FP8", _OLDER),
    Extension(r"vscaleq?_f\d+", "FEAT_FP8", _OLDER),
    Extension(r"vluti[24]q?_lane.*", "FEAT_LUT", _OLDER),
    Extension(r"va(max|min)q?_f\d+", "FEAT_FAMINMAX", _OLDER),
    Extension(r"v(ldap1|stl1)q?_lane_.*", "FEAT_LRCPC3", _OLDER),
    Extension(r"vdotq?_(laneq?_)?f32_f16", "FEAT_F16F32DOT", _OLDER),
    Extension(r"vmmlaq_f32_f16", "FEAT_F16F32MM", _OLDER),
    Extension(r"vmmlaq_f16", "FEAT_F16MM", _OLDER),
)
"""Intrinsics of ACLE whose instructions the table lacks, by their names.  Capstone 5 does not decode those."""


def extension_of(mnemonic: str, operand_text: str) -> Extension | None:
    """The extension that an instruction which the table lacks belongs to; None where none here has it."""
    text = f"{mnemonic} {operand_text}"
    matches = (e for e in EXTENSIONS if re.fullmatch(e.pattern, mnemonic) or re.fullmatch(e.pattern, text))
    return next(matches, None)


def extension_of_intrinsic(name: str) -> Extension | None:
    """The extension that an intrinsic without instructions in the table belongs to; None for any other name."""
    return next((e for e in INTRINSICS if re.fullmatch(e.pattern, name)), None)
