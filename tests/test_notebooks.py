"""The notebooks run from top to bottom, and are kept with what a run leaves in them."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from rtl_models.tools.build_cache import BUILDS, HELD

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MACHINE_PATH = re.compile(r"(?<![\w.*])/(?:home|root|tmp|usr|opt|var|work|Users)/|\b[A-Z]:\\")

PICTURES = {"03_performance_estimation": 8, "04_rtl_lanes": 1, "05_one_layer_in_hardware": 3}
"""How many pictures a notebook has at least."""
REPEATED = ("03_performance_estimation", "05_one_layer_in_hardware")
"""Those whose words a run must give again.  In the others some depend on how far a search comes in its time."""
WIDGET = "application/vnd.jupyter.widget-view+json"
"""What lives in a running notebook only."""

HARDWARE = ("04_rtl_lanes", "05_one_layer_in_hardware")

each_notebook = pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.rtl] * (path.stem in HARDWARE)) for path in NOTEBOOKS],
)


def read(path: Path) -> Any:
    return nbformat.reads(path.read_text(encoding="utf-8"), 4)  # type: ignore[no-untyped-call]


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[AsyncKernelManager]:
    """A kernel of this interpreter, whatever kernels are installed, that leaves nothing behind."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    with TemporaryDirectory() as sockets:  # the path of a socket has 107 bytes at most
        specs = KernelSpecManager(kernel_dirs=[])
        yield AsyncKernelManager(kernel_spec_manager=specs, transport="ipc", connection_file=f"{sockets}/kernel.json")


def test_notebooks_are_numbered() -> None:
    assert [path.name[:3] for path in NOTEBOOKS] == [f"{number:02}_" for number in range(1, len(NOTEBOOKS) + 1)]


@pytest.mark.slow
@each_notebook
def test_runs_clean_from_top_to_bottom(path: Path, kernel: AsyncKernelManager, tmp_path: Path) -> None:
    notebook = read(path)
    kept = [said(cell) for cell in code_cells(notebook)]
    NotebookClient(notebook, km=kernel, timeout=1800, resources={"metadata": {"path": tmp_path}}).execute()
    now = [said(cell) for cell in code_cells(notebook)]
    if path.stem in REPEATED:
        assert now == kept
    assert [(bool(words), kinds) for words, kinds in now] == [(bool(words), kinds) for words, kinds in kept]
    assert [cell.execution_count for cell in code_cells(notebook)] == [*range(1, len(code_cells(notebook)) + 1)]
    warned = [output for cell in code_cells(notebook) for output in cell.outputs if output.get("name") == "stderr"]
    # to build a program, or to wait for a test beside this one that builds the same, is no fault of the notebook
    assert [output for output in warned if {*output["text"].splitlines()} - {BUILDS, HELD}] == []


def test_kernel_is_this_interpreter(kernel: AsyncKernelManager) -> None:
    kernel.kernel_name = "python3"
    assert kernel.kernel_spec is not None
    assert kernel.kernel_spec.argv[0] == sys.executable


@each_notebook
def test_opens_with_the_question_that_it_answers(path: Path) -> None:
    first = read(path).cells[0]
    assert (first.cell_type, bool(re.match(r"# .+\n\n\*\*[^*]+\?\*\*\n", first.source))) == ("markdown", True)


def said(cell: Any) -> tuple[str, list[list[str]]]:
    """What a run says in words, and which pictures it draws, but not their bytes: fonts differ."""
    outputs = [
        output for output in cell.outputs if output.get("name") != "stderr" and WIDGET not in output.get("data", {})
    ]
    texts = "".join(output.get("text", "") for output in outputs)
    kinds = [sorted(output.get("data", {})) for output in outputs if output.output_type != "stream"]
    return texts + "".join(output.get("data", {}).get("text/html", "") for output in outputs), kinds


@each_notebook
def test_is_kept_with_what_a_run_leaves_that_can_be_seen_on_a_page(path: Path) -> None:
    cells = code_cells(read(path))
    outputs = [output.get("data", {}) for cell in cells for output in cell.outputs]
    assert [cell.execution_count for cell in cells] == [*range(1, len(cells) + 1)]
    assert [data for data in outputs if WIDGET in data] == []
    assert sum("image/png" in data for data in outputs) >= PICTURES.get(path.stem, 0)


@each_notebook
def test_is_written_as_jupyter_does_with_lasting_ids(path: Path) -> None:
    notebook = read(path)
    written = nbformat.writes(notebook, 4).rstrip("\n") + "\n"  # type: ignore[no-untyped-call]
    assert [cell.id for cell in notebook.cells] == [f"cell-{n:02}" for n in range(1, len(notebook.cells) + 1)]
    assert path.read_text(encoding="utf-8") == written


@each_notebook
def test_has_no_path_of_a_machine(path: Path) -> None:
    assert MACHINE_PATH.findall(path.read_text(encoding="utf-8")) == []


@each_notebook
def test_uses_public_names_only(path: Path) -> None:
    cells = [ast.parse(without_magics(cell.source)) for cell in code_cells(read(path))]
    names = {name for cell in cells for node in ast.walk(cell) for name in names_in(node)}
    assert {name for name in names if name.startswith("_") and not name.endswith("__")} == set()


def without_magics(source: str) -> str:
    return "\n".join(line for line in source.splitlines() if not line.startswith("%"))


def names_in(node: ast.AST) -> list[str]:
    """The names that a node takes from elsewhere: of attributes, and of what is imported."""
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.ImportFrom | ast.Import):
        module = getattr(node, "module", None) or ""
        return [part for name in (module, *(alias.name for alias in node.names)) for part in name.split(".")]
    return []
