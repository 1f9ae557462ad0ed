"""Where randomness comes from: a seed is a hash of what it is for."""

import hashlib


def derive_seed(*parts: str | int) -> int:
    """A 63-bit seed from its purpose, e.g. ``derive_seed("cora", "fixed", "cgnn", 3, "dropout")``.

    A hash instead of ``base + index``: no two purposes share a stream, and replica 3 keeps its seed
    whatever runs beside it or was added later.
    """
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
