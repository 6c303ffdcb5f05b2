"""A user's own claims: a Python file that has them in a list named CLAIMS (`help(sim.prove)` shows one).

The file is run: it is a program like any other, with all that a program may do.
"""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path

from isa.errors import fault_in
from sim.prove.claim import BrokenClaim, Claim, sides_of


def claims_in(file: Path) -> list[Claim]:
    """The claims of a file, each tried for expressions.  Raises BrokenClaim, with one sentence, for anything else."""
    try:
        names_of_file: dict[str, object] = runpy.run_path(str(file), run_name="claims")
    except OSError as error:
        if error.filename is not None and Path(error.filename).absolute() == file.absolute():
            raise BrokenClaim(f"cannot read {file}: {error.strerror}; give the path of a Python file") from error
        raise BrokenClaim(f"{file}{fault_in(file, error)}") from error
    except (Exception, SystemExit) as error:  # whatever a user's file fails with
        raise BrokenClaim(f"{file}{fault_in(file, error)}") from error
    found = names_of_file.get("CLAIMS")
    if not isinstance(found, Sequence) or not found or not all(isinstance(claim, Claim) for claim in found):
        raise BrokenClaim(f"{file} must have a list named CLAIMS, of at least one sim.prove.Claim")
    names = [claim.name for claim in found]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise BrokenClaim(f"{file} has two claims named {repeated!r}: give each a name of its own")
    for claim in found:
        sides_of(claim)
    return list(found)
