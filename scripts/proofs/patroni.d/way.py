"""The way from a standby to its primary: bytes pass until it is held up, and what it then holds can be lost."""

import contextlib
import selectors
import socket
import threading


class Way:
    def __init__(self, target: int):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.passes = threading.Event()
        self.passes.set()
        self.lock = threading.Lock()
        self.ends: list[socket.socket] = []
        self.drops = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.target), 5)
            server.settimeout(None)
        except OSError:
            return client.close()
        with self.lock:
            self.ends += [client, server]
            drops = self.drops
        others = {client: server, server: client}
        with contextlib.suppress(OSError, ValueError), selectors.DefaultSelector() as selector:
            for end in others:
                selector.register(end, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    self.passes.wait()
                    # The kernel would still give what it has.
                    if drops != self.drops or not (piece := key.fileobj.recv(65_536)):
                        raise OSError
                    others[key.fileobj].sendall(piece)
        for end in others:
            end.close()

    def hold(self) -> None:
        """Nothing passes; either side takes the other for slow."""
        self.passes.clear()

    def drop(self) -> None:
        """Ends all connections, with what they hold."""
        with self.lock:
            self.drops += 1
            for end in self.ends:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            self.ends.clear()
        self.passes.set()

    def close(self) -> None:
        self.listener.close()
        self.drop()
