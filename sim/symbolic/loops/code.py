"""The loops of code: where they are entered, and which instructions belong to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sim.symbolic.following.flow import Flow


class CodeLoops:
    """Loops of functions, each told when it is entered: `enter` with the address of its first instruction."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._graphs: dict[int, Mapping[int, Sequence[int]]] = {}
        self.heads: set[int] = set()

    def enter(self, pc: int) -> None:
        """Find the loops of the function that begins there: every cycle has an instruction to which one goes back."""
        if pc not in self._graphs:
            self._graphs[pc] = graph = self._flow.following(pc)
            under_way, done, pending = set[int](), set[int](), [(pc, False)]
            while pending:
                node, is_left = pending.pop()
                if is_left:
                    under_way.discard(node)
                    done.add(node)
                elif node in under_way:
                    self.heads.add(node)
                elif node not in done and node in graph:
                    under_way.add(node)
                    pending.append((node, True))
                    pending += [(after, False) for after in graph[node]]

    def body(self, head: int, around: Sequence[int]) -> frozenset[int]:
        """The instructions from which code may go back to a head without coming by those of the loops around it."""
        graph = next(of for of in self._graphs.values() if head in of)
        before: dict[int, list[int]] = {}
        for node, following in graph.items():
            for after in following:
                before.setdefault(after, []).append(node)
        found, pending = {head}, [head]
        while pending:
            for node in before.get(pending.pop(), ()):
                if node not in found and node not in around:
                    found.add(node)
                    pending.append(node)
        return frozenset(found)
