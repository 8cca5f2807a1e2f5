#!/usr/bin/env python3
"""Sends messages over HTTP/2, each to a device of its own, as fast as one process can; h2load repeats one body.

    distinct_targets.py ENDPOINT/v1/projects/ID/messages:send CA.PEM ACCESS-TOKEN FIRST COUNT

Exits with 1 when an answer was not 200. Plain Python without packages: the frames are written by hand (RFC 9113).
"""

import socket
import ssl
import struct
import sys
from urllib.parse import urlsplit

BATCH = 100
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
ACK = END_STREAM = 1
END_HEADERS = 4
# Changes of the HPACK table's size, which may come before the first field.
TABLE_SIZES = bytes(range(0x20, 0x40))


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def length(size):
    """An HPACK integer with a prefix of seven bits."""
    if size < 127:
        return bytes((size,))
    size -= 127
    encoded = b"\x7f"
    while size >= 128:
        encoded += bytes((size % 128 + 128,))
        size //= 128
    return encoded + bytes((size,))


def header_block(fields):
    """Literals that enter no table, so that the same bytes serve every request."""
    return b"".join(
        b"\0" + length(len(name)) + name + length(len(value)) + value
        for name, value in ((name.encode(), value.encode()) for name, value in fields))


class Connection:
    def __init__(self, url, authority_file, access_token):
        parts = urlsplit(url)
        context = ssl.create_default_context(cafile=authority_file)
        context.set_alpn_protocols(["h2"])
        plain = socket.create_connection((parts.hostname, parts.port))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = context.wrap_socket(plain, server_hostname=parts.hostname)
        self.block = header_block([
            (":method", "POST"), (":scheme", "https"), (":authority", parts.netloc), (":path", parts.path),
            ("authorization", f"Bearer {access_token}"), ("content-type", "application/json")])
        self.stream = -1
        self.buffer = b""
        # The status of an answer is the first field of its headers: index 8 of the static table is 200.
        self.refused = 0
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0))

    def send(self, bodies):
        request = []
        for body in bodies:
            self.stream += 2
            request.append(frame(HEADERS, END_HEADERS, self.stream, self.block))
            request.append(frame(DATA, END_STREAM, self.stream, body))
        self.socket.sendall(b"".join(request))
        self.wait(len(bodies))

    def wait(self, answers):
        """Reads until so many streams have ended, and gives back the window that their bodies took."""
        consumed = 0
        reply = b""
        while answers > 0:
            chunk = self.socket.recv(1 << 18)
            if not chunk:
                raise SystemExit("distinct_targets.py: the connection was closed")
            buffer = self.buffer + chunk
            at = 0
            while len(buffer) - at >= 9:
                size = int.from_bytes(buffer[at:at + 3], "big")
                if len(buffer) - at < 9 + size:
                    break
                kind, flags = buffer[at + 3], buffer[at + 4]
                if kind == DATA:
                    consumed += size
                    answers -= flags & END_STREAM
                elif kind == HEADERS:
                    block = buffer[at + 9:at + 9 + size].lstrip(TABLE_SIZES)
                    self.refused += block[:1] != b"\x88"
                    answers -= flags & END_STREAM
                elif kind in (SETTINGS, PING) and not flags & ACK:
                    payload = buffer[at + 9:at + 9 + size] if kind == PING else b""
                    reply += frame(kind, ACK, 0, payload)
                elif kind in (RST_STREAM, GOAWAY):
                    raise SystemExit(f"distinct_targets.py: frame of type {kind}: {buffer[at:at + 9 + size]!r}")
                at += 9 + size
            self.buffer = buffer[at:]
        if consumed:
            reply += frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", consumed))
        self.socket.sendall(reply)


def main(url, authority_file, access_token, first, count):
    connection = Connection(url, authority_file, access_token)
    for start in range(first, first + count, BATCH):
        connection.send([
            b'{"message":{"token":"device-%d","notification":{"title":"Hello"}}}' % number
            for number in range(start, min(start + BATCH, first + count))])
    if connection.refused:
        sys.exit(f"distinct_targets.py: {connection.refused} of {count} answers were not 200")


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5]))
