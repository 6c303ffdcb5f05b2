"""A module cycle by cycle: the values of its outputs for values of its inputs, without cocotb."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE, run
from typing import Final

from rtl_models.tools.build_cache import OPTIMISATION, TopModule, compiled, kept, runtime, unity, verilate
from rtl_models.tools.environment import cpp_compiler
from rtl_models.tools.sources import LANES

Values = Mapping[str, int]
_MAIN: Final = """// {parameters}
#include <cinttypes>
#include <cstdio>
#include <memory>
#include "Vtop.h"

static void print(uint64_t value) {{ std::printf("%" PRIx64 " ", value); }}

template <std::size_t Words> static void print(const VlWide<Words>& value) {{
  for (std::size_t word = Words; word-- > 0;) std::printf("%08x", value[word]);
  std::printf(" ");
}}

int main() {{
  const auto top = std::make_unique<Vtop>();
  uint64_t {names};
  while ({read}) {{
    {assign}
    top->clk_i = 0;
    top->eval();
    {print}
    std::printf("\\n");
    top->clk_i = 1;
    top->eval();
  }}
}}
"""


@dataclass(frozen=True)
class Clocked:
    """A module of the lanes with clk_i, at some parameters, and those of its ports that are of interest."""

    module: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    parameters: Values = field(default_factory=dict)

    def after(self, cycles: Iterable[Values]) -> list[dict[str, int]]:
        """The outputs in each cycle, of inputs that are 0 where they are not given; the clock rises at its end.

        Cycles with the same outputs are one dictionary.

        The state before the first cycle is unknown: a cycle with rst_ni 0 comes first.
        """
        text = "\n".join(" ".join(f"{cycle.get(name, 0):x}" for name in self.inputs) for cycle in cycles)
        done = run([self._program()], input=text, stdout=PIPE, check=True, text=True)
        rows = done.stdout.splitlines()  # most cycles have the outputs of others
        read = {row: dict(zip(self.outputs, (int(word, 16) for word in row.split()), strict=True)) for row in set(rows)}
        return [read[row] for row in rows]

    def _program(self) -> Path:
        design = TopModule(self.module, {"main.cpp": self._main()}, (LANES,))
        return kept("bench", design, ".cycles", lambda scratch: self._make(design, scratch))

    def _make(self, design: TopModule, scratch: Path) -> tuple[Path, list[Path]]:
        parameters = [f"-G{name}={value}" for name, value in self.parameters.items()]
        inputs, compiler = verilate(design, scratch, *parameters, f"{LANES / self.module}.sv"), cpp_compiler()
        (scratch / "main.cpp").write_text(self._main())
        unity(scratch / "all.cpp", scratch / "main.cpp")
        return compiled(compiler, scratch, [OPTIMISATION["bench"]], [str(runtime(compiler)), "-pthread"]), inputs

    def _main(self) -> str:
        reads = [f'std::scanf("%" SCNx64, &{name}) == 1' for name in self.inputs]
        return _MAIN.format(
            parameters=dict(self.parameters),
            names=", ".join(self.inputs),
            read=" && ".join(reads),
            assign=" ".join(f"top->{name} = {name};" for name in self.inputs),
            print=" ".join(f"print(top->{name});" for name in self.outputs),
        )
