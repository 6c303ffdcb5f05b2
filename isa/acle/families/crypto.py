"""Intrinsics of ciphers and hashes."""

from __future__ import annotations

from functools import partial

from isa.acle.rules import Rule

_bytes = partial(Rule, form="q", kinds="u", widths=(8,))
_words = partial(Rule, form="q", kinds="u", widths=(32,))
_long = partial(Rule, form="q", kinds="u", widths=(64,))
_HASH = "{0.q}, {2.q}, {3}"

RULES = (
    _bytes("aese aesd", "{op}", "T = +T, T"),
    _bytes("aesmc aesimc", "{op}", "T = T"),
    _words("sha1c sha1p sha1m", "{op}", "T = +T, number, T", "{0.q}, {2}, {3}"),
    Rule("sha1h", "sha1h", "T = T", form="number", kinds="u", widths=(32,)),
    _words("sha256h sha256h2", "{op}", "T = +T, T, T", _HASH),
    _words("sha1su0 sha256su1", "{op}", "T = +T, T, T"),
    _words("sha1su1 sha256su0", "{op}", "T = +T, T"),
    _long("sha512h sha512h2", "{op}", "T = +T, T, T", _HASH),
    _long("sha512su1", "{op}", "T = +T, T, T"),
    _long("sha512su0", "{op}", "T = +T, T"),
    _words("sm3ss1", "{op}", "T = T, T, T"),
    _words("sm3tt1a sm3tt1b sm3tt2a sm3tt2b", "{op}", "T = +T, T, T, lane", "{0}, {2}, {3.e}[{4}]"),
    _words("sm3partw1 sm3partw2", "{op}", "T = +T, T, T"),
    _words("sm4e", "{op}", "T = +T, T"),
    _words("sm4ekey", "{op}", "T = T, T"),
)
