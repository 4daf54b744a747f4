"""Answers any MCP request with ready-made bytes: against it the client of the benchmark measures its own cost."""

import os
import select
import socket

ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"%s"}],"isError":false}}' % (b"x" * 3000)
EVENT = b"event: message\ndata: %s\n\n" % ANSWER
CHUNK = b"%x\r\n%s\r\n" % (len(EVENT), EVENT)
HEAD = b"HTTP/1.1 200 OK\r\nmcp-session-id: 1\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
ENDPOINT = b"event: endpoint\ndata: /messages?session_id=1\n\n"


def stdio():
    while read := os.read(0, 1 << 16):
        if b'"id"' in read:
            os.write(1, ANSWER + b"\n")


def web(port):
    listener = socket.create_server(("127.0.0.1", port))
    sockets, stream = [listener], None
    while True:
        for ready in select.select(sockets, [], [])[0]:
            if ready is listener:
                connection = listener.accept()[0]
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sockets.append(connection)
                continue
            read = ready.recv(1 << 16)
            if not read:
                sockets.remove(ready)
            elif read.startswith(b"GET"):
                stream = ready
                stream.sendall(HEAD + b"%x\r\n%s\r\n" % (len(ENDPOINT), ENDPOINT))
            elif read.startswith(b"POST /mcp"):
                ready.sendall(HEAD + CHUNK + b"0\r\n\r\n")
            else:
                ready.sendall(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")
                if b'"id"' in read:
                    stream.sendall(CHUNK)


if os.environ["MCP_TRANSPORT"] == "stdio":
    stdio()
else:
    web(int(os.environ["MCP_PORT"]))
