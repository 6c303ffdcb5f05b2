"""Equations that yosys wrote, as terms of the solver.

Yosys defines a function of the state for each wire.  The state of a combinational module is the bits of its input
ports, in some order.  Here each function becomes one term, with given terms for the input ports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple, cast

from isa.evaluate.smt_terms import Term, Terms

Expression = str | list["Expression"]

_TOKEN = re.compile(r"\|[^|]*\||[()]|[^\s()|;]+|;[^\n]*")
_PORT = re.compile(r"^; yosys-smt2-(input|output) (\w+) (\d+)$", re.MULTILINE)
_KINDS = {
    "bvadd": "BV_ADD", "bvsub": "BV_SUB", "bvmul": "BV_MUL", "bvneg": "BV_NEG", "bvnot": "BV_NOT", "bvand": "BV_AND",
    "bvor": "BV_OR", "bvxor": "BV_XOR", "bvxnor": "BV_XNOR", "bvshl": "BV_SHL", "bvlshr": "BV_SHR", "bvashr": "BV_ASHR",
    "bvslt": "BV_SLT", "bvsle": "BV_SLE", "bvsgt": "BV_SGT", "bvsge": "BV_SGE",
    "bvult": "BV_ULT", "bvule": "BV_ULE", "bvugt": "BV_UGT", "bvuge": "BV_UGE",
    "concat": "BV_CONCAT", "ite": "ITE", "=": "EQUAL", "distinct": "DISTINCT",
    "and": "AND", "or": "OR", "xor": "XOR", "not": "NOT",
}  # fmt: skip


class NotCombinational(Exception):
    """A module keeps a state, or has a value that nothing drives: there is no term for it."""


def ports(text: str, direction: str) -> dict[str, int]:
    """The bits of each port, "input" or "output"."""
    return {name: int(bits) for kind, name, bits in _PORT.findall(text) if kind == direction}


def output_terms(text: str, terms: Terms, inputs: Mapping[str, Term]) -> dict[str, Term]:
    """The bit-vector of each output port, from a bit-vector for each input port.  Raises NotCombinational."""
    translation = _Translation(terms, _functions(text), {port: inputs[port] for port in ports(text, "input")})
    return {port: translation.output(port) for port in ports(text, "output")}


def _functions(text: str) -> dict[str, Expression]:
    """The bodies of the functions of one state, by name without bars."""
    defined = [e for e in _expressions(text) if e[0] == "define-fun" and len(e[2]) == 1]
    return {_plain(cast(str, name)): body for _, name, _, _, body in defined}


def _plain(name: str) -> str:
    return name.strip("|")


def _expressions(text: str) -> list[list[Expression]]:
    tokens = (token for token in _TOKEN.findall(text) if not token.startswith(";"))
    return cast(list[list[Expression]], list(_nested(tokens)))


def _nested(tokens: Iterator[str]) -> Iterator[Expression]:
    """Expressions up to the closing parenthesis, or to the end."""
    for token in tokens:
        if token == ")":
            return
        yield list(_nested(tokens)) if token == "(" else token


def _state_bits(expression: Expression, functions: Mapping[str, Expression]) -> list[int]:
    """The bits of the state that an input port is made up of, its lowest first.  Raises NotCombinational."""
    head, *args = cast(list[Expression], expression)
    if isinstance(head, list):
        low, high = int(cast(str, head[3])), int(cast(str, head[2]))
        whole = list(range(high + 1)) if args == ["state"] else _state_bits(args[0], functions)
        return whole[low : high + 1]
    if head == "concat":
        return [bit for arg in reversed(args) for bit in _state_bits(arg, functions)]
    if head in ("ite", "="):  # between a bit and a truth value
        return _state_bits(args[0], functions)
    return _state_bits(functions[_plain(head)], functions)


class _Source(NamedTuple):
    """Where a bit of the state comes from."""

    port: str
    bit: int


def _runs(sources: list[_Source]) -> list[list[_Source]]:
    """Cut where a bit is not the next one of the same port."""
    runs = [sources[:1]]
    for before, source in pairwise(sources):
        if source == before._replace(bit=before.bit + 1):
            runs[-1].append(source)
        else:
            runs.append([source])
    return runs


class _Translation:
    """The terms of functions, each made once."""

    def __init__(self, terms: Terms, functions: Mapping[str, Expression], inputs: Mapping[str, Term]) -> None:
        self._terms, self._functions, self._inputs = terms, functions, inputs
        self._made: dict[str, Term] = {}
        self._ports = {name.split("_n ")[1]: functions[name] for name in functions if "_n " in name}
        self._sources = {
            state: _Source(port, bit)
            for port in inputs
            for bit, state in enumerate(_state_bits(self._ports[port], functions))
        }

    def output(self, port: str) -> Term:
        """A port as a bit-vector; yosys has one bit as a truth value."""
        term = self._term(self._ports[port])
        return self._terms.made("ITE", term, self._bits("1"), self._bits("0")) if term.sort().is_bool() else term

    def _function(self, name: str) -> Term:
        if name not in self._made:
            self._made[name] = self._term(self._functions[name])
        return self._made[name]

    def _term(self, expression: Expression) -> Term:
        if isinstance(expression, str):
            return self._literal(expression)
        head, *args = expression
        if isinstance(head, list):
            return self._indexed(head, args)
        if head in _KINDS:
            return self._terms.made(_KINDS[head], *map(self._term, args))
        if args == ["state"] and _plain(head) in self._functions:
            return self._function(_plain(head))
        raise NotCombinational(f"the equations use {head}, for which there is no term")

    def _indexed(self, head: list[Expression], args: list[Expression]) -> Term:
        _, operator, high, low = cast(list[str], head)
        if operator != "extract":
            raise NotCombinational(f"the equations use {operator}, for which there is no term")
        if args == ["state"]:
            return self._of_state(range(int(low), int(high) + 1))
        return self._terms.made("BV_EXTRACT", self._term(args[0]), indices=[int(high), int(low)])

    def _of_state(self, bits: range) -> Term:
        """Some bits of the state: as few pieces of input ports as there are."""
        unknown = [bit for bit in bits if bit not in self._sources]
        if unknown:
            raise NotCombinational(
                f"no input determines bit {unknown[0]} of the state: a register, or nothing drives it"
            )
        parts = [self._piece(run) for run in reversed(_runs([self._sources[bit] for bit in bits]))]
        return parts[0] if len(parts) == 1 else self._terms.made("BV_CONCAT", *parts)

    def _piece(self, run: list[_Source]) -> Term:
        return self._terms.made("BV_EXTRACT", self._inputs[run[0].port], indices=[run[-1].bit, run[0].bit])

    def _literal(self, token: str) -> Term:
        if token in ("true", "false"):
            return self._terms.manager.mk_true() if token == "true" else self._terms.manager.mk_false()
        if not token.startswith("#b"):
            raise NotCombinational(f"the equations use {token}, which is no constant")
        return self._bits(token[2:])

    def _bits(self, digits: str) -> Term:
        manager = self._terms.manager
        return manager.mk_bv_value(manager.mk_bv_sort(len(digits)), int(digits, 2))
