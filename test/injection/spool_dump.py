#!/usr/bin/env python3
"""Reads a spool and prints one JSON object a record: spool_dump.py [--no-crc] FILE...

Written from libprofile/spool/format.hpp alone, so that recorder and reader are both held against
something that is neither. Names are resolved (`name` is text); `chunk` and `written_ns` say in
which write a record reached the disk. The last line tells how far the file could be read.
"""

import dataclasses
import json
import struct
import sys

MAGIC = b"GPRFSPOL"
CHUNK_MAGIC = 0x4B4E4843
NO_ID = 0xFFFFFFFF

FILE_HEADER = struct.Struct("<8sIIqQII")
CHUNK_HEADER = struct.Struct("<IIQqII")
RECORD_HEADER = struct.Struct("<HHI")

# number: (kind, format of the fields behind the header, their names); '_' fields are reserved.
RECORDS = {
    1: ("fact", "<II", "key_bytes value_bytes"),
    2: ("string", "<II", "id text_bytes"),
    3: ("launch_config", "<I3i3i3iiiiI",
        "id grid_x grid_y grid_z block_x block_y block_z cluster_x cluster_y cluster_z "
        "registers_per_thread static_shared_bytes dynamic_shared_bytes local_bytes_per_thread"),
    4: ("thread", "<II", "tid name"),
    5: ("domain", "<II", "id name"),
    6: ("note", "<IIQ", "code detail count"),
    7: ("status", "<qqqQQQQQQ",
        "realtime_ns monotonic_ns cupti_ns cupti_dropped discarded ranges_lost unknown_records "
        "incomplete_records writer_cpu_ns"),
    8: ("end", "<qII", "time_ns reason _"),
    9: ("category", "<IIII", "domain id name _"),
    10: ("payload_schema", "<QQQIIIIII",
         "id static_bytes flags domain name type pack_align entries _"),
    11: ("counter", "<QQQIIII", "id schema flags domain name description unit"),
    16: ("device", "<II16s16sQIIII",
         "id name uuid mig_uuid memory_bytes multiprocessors compute_major compute_minor _"),
    17: ("context", "<IIII", "id device null_stream _"),
    18: ("stream", "<IIiIII", "context id priority flag correlation _"),
    19: ("place", "<IIII", "id device context stream"),
    32: ("kernel", "<qqQIIIIIIII",
         "start_ns end_ns graph_node graph name device context stream correlation launch_config _"),
    33: ("copy", "<qqQQIIIIIIIBBBB",
         "start_ns end_ns bytes graph_node graph device context stream correlation source_device "
         "target_device copy_kind source_memory target_memory flags"),
    34: ("fill", "<qqQQIIIIIIBB6s",
         "start_ns end_ns bytes graph_node graph device context stream correlation value memory "
         "flags _"),
    35: ("api_call", "<qqIIIIII",
         "start_ns end_ns correlation name tid return_value domain callback_id"),
    36: ("sync", "<qqQIIIIII",
         "start_ns end_ns event_sync type correlation context stream event return_value"),
    37: ("cuda_event", "<QqIIII", "event_sync device_time_ns correlation context stream event"),
    38: ("overhead", "<qqIIII", "start_ns end_ns overhead_kind tid correlation _"),
    39: ("graph_node", "<qQQIIII", "time_ns node original_node graph original_graph type tid"),
    40: ("graph_edge", "<qQQII", "time_ns source target is_removed _"),
    41: ("short_kernel", "<qQIIIIII",
         "start_ns graph_node duration_ns graph name place correlation launch_config"),
    48: ("range_push", "<qIIII", "time_ns tid domain name category"),
    49: ("range_pop", "<qII", "time_ns tid domain"),
    50: ("range_start", "<qQIIII", "time_ns id tid domain name category"),
    51: ("range_end", "<qQII", "time_ns id tid domain"),
    52: ("mark", "<qIIII", "time_ns tid domain name category"),
    53: ("memory_event", "<qQQQQQIIIIIIII",
         "time_ns address bytes pool pool_size pool_used operation memory correlation device context "
         "stream source _"),
    54: ("memory_pool", "<qQQQQIIII",
         "time_ns pool size used release_threshold operation device correlation _"),
    55: ("unified_memory", "<qqQQIIII",
         "start_ns end_ns address value counter source_device target_device flags"),
    56: ("graph_launch", "<qqIIIIII",
         "start_ns end_ns graph device context stream correlation _"),
    57: ("payload", "<QQIIIIII", "schema range of tid domain data_bytes whole_bytes _"),
    58: ("counter_sample", "<qQQIIII", "time_ns counter value form tid domain data_bytes"),
}
LAYOUTS = {number: (kind, struct.Struct(fields), names.split())
           for number, (kind, fields, names) in RECORDS.items()}
TEXT_FIELDS = {"name", "code", "detail"}


def _crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


@dataclasses.dataclass
class Spool:
    """What a file holds: its header, its records in order, and how the reading ended."""

    header: dict
    records: list
    chunks: int
    whole_bytes: int
    file_bytes: int
    stopped: str  # why reading stopped before the end of the file, empty when it did not

    def of(self, *kinds):
        return [record for record in self.records if record["kind"] in kinds]

    def facts(self):
        """Key to value, the last said."""
        return {record["key"]: record["value"] for record in self.of("fact")}

    @property
    def ended(self):
        return bool(self.of("end"))


class FormatError(Exception):
    """The file breaks the format in a way that no interrupted write explains."""


class _Reader:
    def __init__(self):
        self.strings = {0: ""}
        self.domains = {0: ""}
        self.configs = set()
        self.places = {}
        self.records = []

    def text(self, number, where):
        if number not in self.strings:
            raise FormatError(f"{where}: string {number} is used before it is written")
        return self.strings[number]

    def record(self, number, payload, chunk, written_ns, where):
        if number not in LAYOUTS:
            self.records.append({"kind": f"unknown_{number}", "chunk": chunk})
            return
        kind, layout, names = LAYOUTS[number]
        if len(payload) < layout.size:
            raise FormatError(f"{where}: {kind} has {len(payload)} bytes of {layout.size}")
        values = layout.unpack_from(payload)
        record = {"kind": kind, "chunk": chunk, "written_ns": written_ns}
        for name, value in zip(names, values):
            if name != "_":
                record[name] = value.hex() if isinstance(value, bytes) else value
        tail = payload[layout.size:]
        self.finish(record, kind, tail, where)
        self.records.append(record)

    def finish(self, record, kind, tail, where):
        if kind == "fact":
            key, value = record.pop("key_bytes"), record.pop("value_bytes")
            record["key"] = tail[:key].decode()
            record["value"] = tail[key:key + value].decode(errors="replace")
        elif kind == "string":
            text = tail[:record.pop("text_bytes")].decode(errors="replace")
            self.strings[record["id"]] = record["text"] = text
        else:
            for field in TEXT_FIELDS & record.keys():
                record[field] = self.text(record[field], where)
        if kind == "domain":
            self.domains[record["id"]] = record["name"]
        elif "domain" in record and kind != "api_call":
            if record["domain"] not in self.domains:
                raise FormatError(f"{where}: domain {record['domain']} is used before it is written")
            record["domain_name"] = self.domains[record["domain"]]
        if kind == "launch_config":
            self.configs.add(record["id"])
        if kind == "place":
            self.places[record["id"]] = record
        if kind == "short_kernel":
            self.lengthen(record, where)
        if record.get("launch_config", NO_ID) != NO_ID and record["launch_config"] not in self.configs:
            raise FormatError(f"{where}: launch_config is used before it is written")

    def lengthen(self, record, where):
        """A short kernel says the same as a kernel: whoever reads the dump sees only those."""
        if record["place"] not in self.places:
            raise FormatError(f"{where}: place {record['place']} is used before it is written")
        place = self.places[record.pop("place")]
        record.update({key: place[key] for key in ("device", "context", "stream")})
        record["end_ns"] = record["start_ns"] + record.pop("duration_ns")
        record["kind"] = "kernel"

    def chunk(self, payload, chunk, written_ns, where):
        at = 0
        while at < len(payload):
            number, reserved, size = RECORD_HEADER.unpack_from(payload, at)
            if size < RECORD_HEADER.size or size % 8 or at + size > len(payload) or reserved:
                raise FormatError(f"{where}: record at {at} has {size} bytes")
            self.record(number, payload[at + RECORD_HEADER.size:at + size], chunk, written_ns,
                        f"{where}, record at {at}")
            at += size


def _header(data, path):
    if len(data) < FILE_HEADER.size:
        raise FormatError(f"{path}: no whole header")
    magic, version, order, start_ns, nonce, pid, crc = FILE_HEADER.unpack_from(data)
    if magic != MAGIC or version != 1 or order != 0x01020304:
        raise FormatError(f"{path}: not a spool of version 1")
    if crc != crc32c(data[:FILE_HEADER.size - 4]):
        raise FormatError(f"{path}: the header's checksum is wrong")
    return {"start_ns": start_ns, "nonce": nonce, "pid": pid}


def read_spool(path, check_crc=True):
    """The Spool in a file. Raises FormatError for what an interrupted write cannot explain."""
    with open(path, "rb") as file:
        data = file.read()
    header = _header(data, path)
    reader = _Reader()
    at, chunk, stopped = FILE_HEADER.size, 0, ""
    while at < len(data):
        if at + CHUNK_HEADER.size > len(data):
            stopped = "half a chunk header"
            break
        magic, size, sequence, written_ns, payload_crc, header_crc = CHUNK_HEADER.unpack_from(data, at)
        if magic != CHUNK_MAGIC or header_crc != crc32c(data[at:at + CHUNK_HEADER.size - 4]):
            raise FormatError(f"{path}: byte {at} is no chunk")
        if sequence != chunk:
            raise FormatError(f"{path}: chunk {sequence} where {chunk} should be")
        payload = data[at + CHUNK_HEADER.size:at + CHUNK_HEADER.size + size]
        if len(payload) < size:
            stopped = "half a chunk"
            break
        if check_crc and payload_crc != crc32c(payload):
            raise FormatError(f"{path}: the checksum of chunk {sequence} is wrong")
        reader.chunk(payload, chunk, written_ns, f"{path}: chunk {chunk}")
        at += CHUNK_HEADER.size + size
        chunk += 1
    return Spool(header, reader.records, chunk, at, len(data), stopped)


def main(arguments):
    check = "--no-crc" not in arguments
    for path in (argument for argument in arguments if not argument.startswith("--")):
        spool = read_spool(path, check)
        print(json.dumps({"kind": "file", "path": path, **spool.header}))
        for record in spool.records:
            print(json.dumps(record))
        print(json.dumps({"kind": "read", "chunks": spool.chunks, "bytes": spool.whole_bytes,
                          "of_bytes": spool.file_bytes, "stopped": spool.stopped,
                          "ended": spool.ended}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
