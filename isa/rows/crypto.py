"""Ciphers and hashes on vector registers (Arm ARM C7.2: AES*, SHA*, SM3*, SM4*)."""

from __future__ import annotations

from isa.semantics.crypto import aes, sha1, sha256, sha512, sm3, sm4
from isa.semantics.crypto.words import choose, majority, parity
from isa.semantics.elementwise import UNSIGNED, each
from isa.table import family

ROWS = (
    family("aese", "T,T", ".16b", aes.encrypt, "aes"),
    family("aesd", "T,T", ".16b", aes.decrypt, "aes"),
    family("aesmc", "T,T", ".16b", aes.mix_columns, "aes"),
    family("aesimc", "T,T", ".16b", aes.unmix_columns, "aes"),
    family("sha1c", "q,s,.4s", "", sha1.four_rounds(choose), "sha2"),
    family("sha1p", "q,s,.4s", "", sha1.four_rounds(parity), "sha2"),
    family("sha1m", "q,s,.4s", "", sha1.four_rounds(majority), "sha2"),
    family("sha1h", "s,s", "", each(UNSIGNED, sha1.rotate), "sha2"),
    family("sha1su0", "T,T,T", ".4s", sha1.schedule_0, "sha2"),
    family("sha1su1", "T,T", ".4s", sha1.schedule_1, "sha2"),
    family("sha256h", "q,q,.4s", "", sha256.hash_first, "sha2"),
    family("sha256h2", "q,q,.4s", "", sha256.hash_second, "sha2"),
    family("sha256su0", "T,T", ".4s", sha256.schedule_0, "sha2"),
    family("sha256su1", "T,T,T", ".4s", sha256.schedule_1, "sha2"),
    family("sha512h", "q,q,.2d", "", sha512.hash_first, "sha512"),
    family("sha512h2", "q,q,.2d", "", sha512.hash_second, "sha512"),
    family("sha512su0", "T,T", ".2d", sha512.schedule_0, "sha512"),
    family("sha512su1", "T,T,T", ".2d", sha512.schedule_1, "sha512"),
    family("sm3ss1", "T,T,T,T", ".4s", sm3.sum_of_round, "sm4"),
    family("sm3tt1a", "T,T,E", ".4s", sm3.first_half(parity), "sm4"),
    family("sm3tt1b", "T,T,E", ".4s", sm3.first_half(majority), "sm4"),
    family("sm3tt2a", "T,T,E", ".4s", sm3.second_half(parity), "sm4"),
    family("sm3tt2b", "T,T,E", ".4s", sm3.second_half(choose), "sm4"),
    family("sm3partw1", "T,T,T", ".4s", sm3.schedule_1, "sm4"),
    family("sm3partw2", "T,T,T", ".4s", sm3.schedule_2, "sm4"),
    family("sm4e", "T,T", ".4s", sm4.encrypt, "sm4"),
    family("sm4ekey", "T,T,T", ".4s", sm4.expand_key, "sm4"),
)
