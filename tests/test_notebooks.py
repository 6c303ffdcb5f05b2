"""The notebooks run from top to bottom, and are kept without what a run leaves in them, or with all of it."""

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

from rtl_models.tools.build_cache import HELD

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MACHINE_PATH = re.compile(r"(?<![\w.*])/(?:home|root|tmp|usr|opt|var|work|Users)/|\b[A-Z]:\\")

KEPT = {"03_performance_estimation": 8, "05_one_layer_in_hardware": 3}
"""Notebooks that are kept with their outputs, which a run must give again, and how many pictures each has at least."""

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


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


@each_notebook
def test_runs_clean_from_top_to_bottom(path: Path, kernel: AsyncKernelManager, tmp_path: Path) -> None:
    notebook = read(path)
    kept = [said(cell) for cell in code_cells(notebook)]
    NotebookClient(notebook, km=kernel, timeout=1800, resources={"metadata": {"path": tmp_path}}).execute()
    if path.stem in KEPT:
        assert [said(cell) for cell in code_cells(notebook)] == kept
    assert [cell.execution_count for cell in code_cells(notebook)] == [*range(1, len(code_cells(notebook)) + 1)]
    warned = [output for cell in code_cells(notebook) for output in cell.outputs if output.get("name") == "stderr"]
    # a test beside this one may build the same program at the same time: to wait for it is no fault of the notebook
    assert [output for output in warned if output["text"] != f"{HELD}\n"] == []


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
    texts = "".join(output.get("text", "") for output in cell.outputs)
    kinds = [sorted(output.get("data", {})) for output in cell.outputs if output.output_type != "stream"]
    return texts + "".join(output.get("data", {}).get("text/html", "") for output in cell.outputs), kinds


@each_notebook
def test_keeps_no_output_unless_it_is_to_be_seen_on_a_code_host(path: Path) -> None:
    cells = code_cells(read(path))
    if path.stem in KEPT:
        assert [cell.execution_count for cell in cells] == [*range(1, len(cells) + 1)]
        assert (
            sum("image/png" in output.get("data", {}) for cell in cells for output in cell.outputs) >= KEPT[path.stem]
        )
    else:
        assert all((cell.outputs, cell.execution_count) == ([], None) for cell in cells)


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
