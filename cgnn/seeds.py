"""Random seeds: a seed is a hash of its purpose."""

import hashlib


def derive_seed(*parts: str | int) -> int:
    """A 63-bit seed from its purpose, e.g. ``derive_seed("cora", "fixed", "cgnn", 3, "dropout")``.

    With a hash instead of ``base + index``, no two purposes share a stream, and replica 3 keeps its seed
    whichever other replicas are run or added later.
    """
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
