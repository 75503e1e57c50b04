"""Writes spool files as libprofile/spool/format.hpp describes them, independently of the recorder.

Spool("/folder/x.spool", pid) writes a header; `chunk` writes records, which the functions here make.
"""

import fcntl
import struct
import time


def _crc_table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = _crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def record(kind, layout, *values, tail=b""):
    """A record of `kind`: header, the fields of `layout`, `tail`, zeros up to a multiple of 8."""
    body = struct.pack("<" + layout, *values) + tail
    size = 8 + len(body)
    padding = -size % 8
    return struct.pack("<HHI", kind, 0, size + padding) + body + bytes(padding)


def fact(key, value):
    key, value = key.encode(), value.encode()
    return record(1, "II", len(key), len(value), tail=key + value)


def string(number, text):
    text = text.encode()
    return record(2, "II", number, len(text), tail=text)


def push(time_ns, tid, name):
    return record(48, "qIIII", time_ns, tid, 0, name, 0)


def pop(time_ns, tid):
    return record(49, "qII", time_ns, tid, 0)


def end(time_ns, reason=1):
    return record(8, "qII", time_ns, reason, 0)


def status(incomplete=0):
    return record(7, "qqqQQQQQQ", 0, 0, 0, 0, 0, 0, 0, incomplete, 0)


def note(code, detail, count):
    return record(6, "IIQ", code, detail, count)


def device(number, name, uuid=bytes(range(16))):
    return record(16, "II16s16sQIIII", number, name, uuid, bytes(16), 80 << 30, 132, 9, 0, 0)


def context(number, on_device):
    return record(17, "IIII", number, on_device, 7, 0)


def stream(in_context, number):
    return record(18, "IIiIII", in_context, number, 0, 1, 0, 0)


def kernel(start_ns, end_ns, name, correlation):
    return record(32, "qqQIIIIIIII", start_ns, end_ns, 0, 0, name, 0, 1, 7, correlation,
                  0xFFFFFFFF, 0)


def api_call(start_ns, end_ns, name, tid, correlation):
    return record(35, "qqIIIIII", start_ns, end_ns, correlation, name, tid, 0, 0, 211)


class Spool:
    """An open spool, locked as long as it is, as the recorder's are."""

    def __init__(self, path, pid, start_ns=None, nonce=7):
        self.start_ns = time.time_ns() if start_ns is None else start_ns
        self.file = open(path, "xb")
        fcntl.flock(self.file, fcntl.LOCK_EX)
        header = b"GPRFSPOL" + struct.pack("<IIqQI", 1, 0x01020304, self.start_ns, nonce, pid)
        self.file.write(header + struct.pack("<I", crc32c(header)))
        self.sequence = 0

    def chunk(self, *records):
        payload = b"".join(records)
        header = struct.pack("<IIQqI", 0x4B4E4843, len(payload), self.sequence,
                             self.start_ns + 1_000_000 * (self.sequence + 1), crc32c(payload))
        self.file.write(header + struct.pack("<I", crc32c(header)) + payload)
        self.file.flush()
        self.sequence += 1

    def ranges(self, names, tid):
        """One chunk with a push and a pop of 1 us for each name."""
        records = []
        for i, name in enumerate(names):
            at = self.start_ns + 10_000 * i
            records += [string(i + 1, name), push(at, tid, i + 1), pop(at + 1000, tid)]
        self.chunk(*records)

    def steps(self, count, tid):
        """Steps of 100 us, each with a launch call of 10 us and a kernel of 40 us."""
        self.chunk(string(1, "NVIDIA H200"), device(0, 1), context(1, 0), stream(1, 7),
                   string(2, "gemm"), string(3, "cudaLaunchKernel_v7000"))
        for i in range(count):
            at = self.start_ns + 100_000 * i
            self.chunk(string(4 + i, f"ProfilerStep#{i}"), push(at, tid, 4 + i),
                       api_call(at + 1000, at + 11_000, 3, tid, i + 1),
                       pop(at + 99_000, tid), kernel(at + 20_000, at + 60_000, 2, i + 1))

    def close(self, orderly=True):
        if orderly:
            self.chunk(end(self.start_ns + 900_000))
        self.file.close()
