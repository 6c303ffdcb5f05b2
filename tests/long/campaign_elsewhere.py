"""What other repositories take from here: checked by linters, and the hook run by pre-commit in a copy of the example.

`make test-campaign` installs them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "tests" / "examples" / "own_kernels"
SCHEMAS = {
    ROOT / "docs" / "ci" / "action.yml": "vendor.github-actions",
    ROOT / "docs" / "ci" / "gitlab.yml": "vendor.gitlab-ci",
    EXAMPLE / ".gitlab-ci.yml": "vendor.gitlab-ci",
    EXAMPLE / ".github" / "workflows" / "lanewise.yml": "custom.github-workflows-require-timeout",
}
FILES = [*SCHEMAS, ROOT / ".pre-commit-hooks.yaml", EXAMPLE / ".pre-commit-config.yaml"]
RULES = """extends: default
rules: {line-length: {max: 120}, truthy: {check-keys: false}, comments: {min-spaces-from-content: 1}}"""
PLACED = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def run(*command: str | Path, folder: Path = ROOT, **variables: str) -> tuple[int, str]:
    ended = subprocess.run(
        command, cwd=folder, env={**PLACED, **variables}, capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stdout + ended.stderr


def scripts(node: Any, key: str) -> list[str]:
    """All texts under a key."""
    if isinstance(node, dict):
        own = node.get(key, [])
        return [
            *([own] if isinstance(own, str) else own),
            *(text for one in node.values() for text in scripts(one, key)),
        ]
    return [text for one in node for text in scripts(one, key)] if isinstance(node, list) else []


@pytest.mark.parametrize("file", SCHEMAS, ids=lambda file: file.name)
def test_a_file_is_what_its_schema_says(file: Path, tmp_path: Path) -> None:
    """A hidden job is named without its dot: schemas say nothing of those.  A wrong word shows that they do."""
    check = ("check-jsonschema", "--builtin-schema", SCHEMAS[file])
    text, shown = file.read_text().replace("\n.lanewise:", "\nlanewise:"), tmp_path / file.name
    shown.write_text(text)
    assert run(*check, shown) == (0, "ok -- validation done\n")
    (word,) = (one for one in ("runs:", "when: always", "project:", "timeout-minutes:") if one in text)
    shown.write_text(text.replace(word, f"not-{word}"))
    assert run(*check, shown)[0] == 1


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_is_written_as_yamllint_wants_it(file: Path) -> None:
    assert run("yamllint", "--strict", "-d", RULES, file) == (0, "")


def test_pre_commit_takes_the_manifest_and_the_configuration() -> None:
    assert run("pre-commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml") == (0, "")
    assert run("pre-commit", "validate-config", EXAMPLE / ".pre-commit-config.yaml") == (0, "")


def test_pre_commit_checks_the_kernels_of_a_commit(tmp_path: Path) -> None:
    """As `language: system`: the environment of its own would be lanewise installed anew."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    folder, home = tmp_path / "own_kernels", str(tmp_path / "home")
    shutil.copytree(EXAMPLE, folder)
    config = {"repos": [{"repo": "local", "hooks": [{**hook, "language": "system"}]}]}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    author = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    assert run("git", "init", "-q", folder)[0] == 0
    assert run("git", "add", ".", folder=folder)[0] == 0
    assert run("git", "commit", "-qm", "All", folder=folder, **author)[0] == 0
    assert run("pre-commit", "install", folder=folder, PRE_COMMIT_HOME=home)[0] == 0
    source = folder / "kernels" / "mix.c"
    for wrong, code in (("127 - share", 1), ("(128 - share)", 0)):
        source.write_text((EXAMPLE / "kernels" / "mix.c").read_text().replace("128 - share", wrong))
        ended, said = run("git", "commit", "-qam", "Mix", folder=folder, PRE_COMMIT_HOME=home, **author)
        assert (ended, "4 jobs, 0 kept, 4 done now" in said or code == 0) == (code, True), said


def test_what_the_template_and_the_action_run_ends_as_the_results_do(tmp_path: Path) -> None:
    """Their scripts, by bash, in a copy: with 0; with 1 where a kernel is wrong or there is no campaign."""
    template = yaml.safe_load((ROOT / "docs" / "ci" / "gitlab.yml").read_text())
    action = yaml.safe_load((ROOT / "docs" / "ci" / "action.yml").read_text())
    steps = [text for text in scripts(action["runs"], "run") if "lanewise " in text]
    variables = {"LANEWISE_CAMPAIGN": "lanewise.toml", "LANEWISE_RESULTS": "--allow 0"}
    variables |= {"CAMPAIGN": "lanewise.toml", "OPTIONS": "--allow 0"}
    for name, lines in (("gitlab", scripts(template, "script")), ("github", steps)):
        folder = tmp_path / name
        shutil.copytree(EXAMPLE, folder)
        script = "\n".join(["set -eo pipefail", *lines])
        assert run("bash", "-c", script, folder=folder, **variables)[0] == 0
        assert {"lanewise.xml", "lanewise.html", "lanewise.sqlite"} <= {file.name for file in folder.iterdir()}
        source = folder / "kernels" / "mix.c"
        source.write_text(source.read_text().replace("128 - share", "127 - share"))
        assert run("bash", "-c", script, folder=folder, **variables)[0] == 1
        (folder / "lanewise.toml").unlink()
        assert run("bash", "-c", script, folder=folder, **variables)[0] == 1
