"""A slow way: carries each connection to where it was meant to go, and every byte of it later than it came.

    relay.py PORT

Connections come by address translation, so the kernel knows where they were going. Each line of the input is the delay of each
direction from then on, in seconds. It ends with its input.
"""

import asyncio
import os
import socket
import struct
import sys
import time

# Of netfilter: where a connection was going before its address was translated.
ORIGINAL_DESTINATION = 80
# What the relay sends itself is marked, so that it is not led back to it.
MARK = 1
PIECE = 65_536

# With the time at which each is due. An empty one is the end.
Pieces = asyncio.Queue[tuple[float, bytes]]


class Relay:
    def __init__(self):
        self.delay = 0.0
        # The event loop alone would not keep them.
        self.carried: set[asyncio.Task] = set()

    async def serve(self, port: int) -> None:
        await asyncio.start_server(self.accept, "0.0.0.0", port)
        lines = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        print("ready", flush=True)
        while line := await lines.readline():
            self.delay = float(line)
        # With all connections, wherever they stand.
        os._exit(0)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self.carry(reader, writer))
        self.carried.add(task)
        task.add_done_callback(self.carried.discard)

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = [writer.transport]
        try:
            answers, requests = await self.connect(writer.get_extra_info("socket"))
            ends.append(requests.transport)
            async with asyncio.TaskGroup() as group:
                for source, target in ((reader, requests), (answers, writer)):
                    pieces: Pieces = asyncio.Queue()
                    group.create_task(self.receive(source, pieces))
                    group.create_task(self.send(pieces, target))
        except* OSError:
            pass
        finally:
            for end in ends:
                end.abort()

    async def connect(self, client: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        _, port, address = struct.unpack("!HH4s8x", client.getsockopt(socket.SOL_IP, ORIGINAL_DESTINATION, 16))
        server = socket.socket()
        try:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, MARK)
            server.setblocking(False)
            await asyncio.get_running_loop().sock_connect(server, (socket.inet_ntoa(address), port))
        except OSError:
            server.close()
            raise
        return await asyncio.open_connection(sock=server)

    async def receive(self, reader: asyncio.StreamReader, pieces: Pieces) -> None:
        piece = None
        while piece != b"":
            piece = await reader.read(PIECE)
            pieces.put_nowait((time.monotonic() + self.delay, piece))

    async def send(self, pieces: Pieces, writer: asyncio.StreamWriter) -> None:
        while True:
            due, piece = await pieces.get()
            await asyncio.sleep(due - time.monotonic())
            if not piece:
                return writer.write_eof()
            writer.write(piece)
            await writer.drain()


if __name__ == "__main__":
    asyncio.run(Relay().serve(int(sys.argv[1])))
