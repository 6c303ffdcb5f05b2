"""The cores that `lanewise cycles` times for, and what is different about them if it asks what if."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from isa.instruction import Instruction
from isa.rows import TABLE
from sim.timing.classes.all_classes import classes_of, timing_class
from sim.timing.model.core import Core
from sim.timing.model.core_file import CoreError, core_names, load_core

REAL_CORES: Final = ("cortex-a55", "cortex-a72", "neoverse-n1")
"""Those that are timed where none is named."""
_NEAR: Final = 5


def chosen_cores(text: str) -> list[Core]:
    """The cores of names and paths with commas between them, each once.  Raises CoreError."""
    names = dict.fromkeys(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise CoreError(f"name a core: {', '.join(core_names())}, or the path of a core file (.toml)")
    return [named_core(name) for name in names]


def cores_of(cores: str | Core | Sequence[str | Core]) -> list[Core]:
    """The cores that are named or given; one may stand alone.  Raises CoreError."""
    several = [cores] if isinstance(cores, str | Core) else cores
    return [named_core(core) if isinstance(core, str) else core for core in several]


def named_core(name: str) -> Core:
    """`load_core`, which says of a path what is wrong with it.  Raises CoreError."""
    path = Path(name)
    if name not in core_names() and path.is_dir():
        raise CoreError(f"{name} is a folder: name a core file in it")
    if path.suffix == ".toml" and not path.exists():
        raise CoreError(f"{name} does not exist; cores are {', '.join(core_names())}, or the path of a core file")
    return load_core(name)


@dataclass(frozen=True)
class Changes:
    """What is different about a core if one asks what if, as it was given.

    Latencies are CLASS=CYCLES, uses CLASS=PIPES as a core file writes them, parameters NAME=VALUE; `l2_latency` are
    the cycles of a hit in the second cache.
    """

    latencies: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    l2_latency: int | None = None

    @property
    def texts(self) -> list[str]:
        """Each in words."""
        latencies = [f"the latency of {text}" for text in self.latencies]
        uses = [f"the pipes of {text}" for text in self.uses]
        second = [] if self.l2_latency is None else [f"L2 in {self.l2_latency} cycles"]
        return [*latencies, *uses, *self.parameters, *second]

    def made_to(self, core: Core) -> Core:
        """The core with them, which nobody compared with measured kernels, and of which nobody knows the clock.

        Raises CoreError for a text that is no change, and for what the core does not have.
        """
        if self.texts:
            core = replace(core, about=replace(core.about, validation=(), unseen=(), split=""), clock=None)
        core = _changed(core, Core.with_latency, self.latencies, "--latency")
        core = _changed(core, Core.with_uses, self.uses, "--pipe")
        core = _changed(core, Core.with_parameter, self.parameters, "--set")
        if self.l2_latency is None:
            return core
        if not any(level.name == "L2" for level in core.levels):
            raise CoreError(f"{core.name} has no L2 that --l2-latency could be the latency of")
        levels = [one._replace(latency=self.l2_latency) if one.name == "L2" else one for one in core.levels]
        return replace(core, levels=tuple(levels))


def require_timed(changes: Changes, code: Iterable[Instruction]) -> None:
    """Raises CoreError for a change to a class that no instruction of the code has: it would change no cycle."""
    classes = sorted({timing_class(instruction.pattern) for instruction in code})
    for option, texts in (("--latency", changes.latencies), ("--pipe", changes.uses)):
        for text in texts:
            if text.partition("=")[0].strip() not in classes:
                told = ", ".join(map(repr, classes))
                raise CoreError(f"{option} {text!r}: no instruction that is timed is of that class; they are of {told}")


def _changed(core: Core, change: Callable[[Core, str, str], Core], options: Iterable[str], option: str) -> Core:
    for text in options:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (equals and name):
            raise CoreError(f"{option} takes NAME=VALUE, not {text!r}")
        try:
            core = change(core, name, value)
        except ValueError as error:
            said = f"{option} {text!r} on {core.name}: {error}"
            if name not in core.classes:
                likes = [one for one in core.classes if name.lower() in one.lower()]
                near = _classes_of(name.lower()) or (likes or get_close_matches(name, core.classes))[:_NEAR]
                if near:
                    said += f"; there are {', '.join(near)}"
            raise CoreError(said) from None
    return core


def _classes_of(mnemonic: str) -> list[str]:
    """Those of the forms of a mnemonic, each once."""
    forms = [form for form in TABLE.forms.values() if form.mnemonic == mnemonic]
    return list(dict.fromkeys(name for form in forms for name in classes_of(form)))
