"""One process that works on a peer's store. Like vault-bench it prints `nanoseconds-per-operation operations`.

    python -m beside.client STORE PLACE fill    LOGINS
    python -m beside.client STORE PLACE read    LOGINS COUNT SEED [THREADS]
    python -m beside.client STORE PLACE renew   LOGINS COUNT SEED [THREADS]
    python -m beside.client STORE PLACE open    LOGINS COUNT SEED      opens, reads once and closes, each time
    python -m beside.client STORE PLACE memory  LOGINS COUNT SEED      the peak memory in KiB after COUNT reads
"""
import concurrent.futures
import resource
import sys
import time

from . import order, stores

EXPIRES_AT = 4_000_000_000


def logins(count: int):
    return ((order.user(n), order.access(n), order.refresh(n), EXPIRES_AT) for n in range(count))


def timed(work, items: list, threads: int) -> float:
    """Nanoseconds for each item."""
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        # Every thread has its connection before the clock starts.
        list(pool.map(lambda _: (time.sleep(0.01), work(items[0])), range(threads)))
        start = time.perf_counter_ns()
        list(pool.map(work, items))
        return (time.perf_counter_ns() - start) / len(items)


def main(name: str, place: str, verb: str, size: int, count: int = 0, seed: int = 1, threads: int = 1) -> None:
    store = stores.make(name, place)
    if verb == "fill":
        store.fill(logins(size))
        return store.close()
    users = order.users(seed, size, count)
    if verb == "open":
        start = time.perf_counter_ns()
        for user in users:
            store = stores.make(name, place)
            store.open()
            store.read(user)
            store.close()
        return print((time.perf_counter_ns() - start) / count, count)
    store.open()
    if verb == "memory":
        for user in users:
            store.read(user)
        return print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    if verb == "renew":
        def renew(item):
            store.renew(item[1], order.access(item[0], seed), order.refresh(item[0]), EXPIRES_AT)

        return print(timed(renew, list(enumerate(users)), threads), count)
    if threads > 1:
        return print(timed(store.read, users, threads), count)
    # Without a pool, which costs as much as a read.
    store.read(users[0])
    start = time.perf_counter_ns()
    for user in users:
        store.read(user)
    print((time.perf_counter_ns() - start) / count, count)


main(*sys.argv[1:4], *map(int, sys.argv[4:]))
