"""One process of a peer's service, with the lines of `vault-worker serve`: `NUMBER USER` in, `NUMBER MILLISECONDS OUTCOME` out.

    python -m beside.worker SERVICE OPTIONS-AS-JSON THREADS
    python -m beside.worker SERVICE OPTIONS-AS-JSON fill        takes the grants from standard input, as JSON
"""
import concurrent.futures
import json
import os
import sys
import threading
import time

from . import services


def main(name: str, options: str, threads: str) -> None:
    service = services.make(name, json.loads(options))
    if threads == "fill":
        return service.fill([tuple(grant) for grant in json.load(sys.stdin)])
    service.open()
    writing = threading.Lock()

    def say(text: str) -> None:
        with writing:
            os.write(1, (text + "\n").encode())

    def answer(number: str, user: str) -> None:
        start, outcome = time.perf_counter(), "ok"
        try:
            service.token(user)
        except Exception as error:  # pylint: disable=broad-except
            outcome = type(error).__name__
        say(f"{number} {(time.perf_counter() - start) * 1000:.3f} {outcome}")

    threading.stack_size(256 * 1024)
    with concurrent.futures.ThreadPoolExecutor(int(threads)) as pool:
        say("ready")
        for line in sys.stdin:
            pool.submit(answer, *line.split())


main(*sys.argv[1:])
