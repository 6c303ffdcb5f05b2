"""Ciphers and hashes: AES, SHA-1, SHA-2, SM3 and SM4."""
