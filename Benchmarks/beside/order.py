"""Users and tokens, the same as in vault-bench: `Sources/vault-bench/Order.swift` and `Workload.swift`."""


def user(number: int) -> str:
    return f"user-{number:08d}"


def access(number: int, generation: int = 0) -> str:
    """About as long as a JWT with a handful of claims."""
    return f"token-{number}-{generation}-".ljust(1000, "x")


def refresh(number: int) -> str:
    return f"refresh-{number}-" + "y" * 80


def users(seed: int, logins: int, count: int) -> list[str]:
    """xorshift64, then modulo."""
    state, chosen = seed | 1, []
    for _ in range(count):
        state ^= (state << 13) & 0xFFFF_FFFF_FFFF_FFFF
        state ^= state >> 7
        state ^= (state << 17) & 0xFFFF_FFFF_FFFF_FFFF
        chosen.append(user(state % logins))
    return chosen
