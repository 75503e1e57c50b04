#!/usr/bin/env python3
"""Checks a run.db against what the simulated GPU says it executed.

    compare_with_log.py RUN_DB LOG...

RUN_DB is read with sqlite3 and each LOG (one a process; format: test/simgpu/README.md) as JSON
lines, so that neither the recorder's nor the merger's code judges itself. Every kernel, copy, fill,
call, synchronisation, event record, stream, graph node or graph launch, allocation and free, pool
operation and migration, and the edges of graphs that ran, must be equal, as multisets of rows, and
what was not to be recorded (`recorded_kinds` of table meta) must not be there. Differences are
printed, exit code 1.
"""

import collections
import json
import re
import sqlite3
import subprocess
import sys

# The calls of the default level, said again here on purpose: a test that asked the recorder what it
# records could not find anything missing. Names without the version suffix that CUPTI adds.
NONE = 0xffffffff  # no stream, no event
LEVEL_1 = re.compile(r"""
    ^(__)?cu(da)?(
        Launch.*                                   # kernels, host functions
      | Mem(cpy|set|Prefetch).*                    # copies and fills
      | (Device|Ctx|Stream|Event|Thread)Synchronize.*
      | Event(Record|RecordWithFlags)(_ptsz)?
      | StreamWaitEvent(_ptsz)?
      | MemPool(Create|Destroy|TrimTo).*
      | (Malloc|Free|HostAlloc|HostFree|MemAlloc|MemFree|MemHostAlloc).*
      | (Host|MemHost)(Register|Unregister).*
      | (Module|Library)(Load|Unload).*
      | (Init|InitDevice|SetDevice|DeviceReset|DevicePrimaryCtx(Retain|Reset|Release))(_v\d)?$
      | (Ctx|Stream)(Create|Destroy).*             # contexts and streams come and go
      | Graph(Instantiate|Launch|Upload|ExecUpdate).*
    )""", re.X)


# The calls that no level records.
NOISY = re.compile(r"""
    ^(__)?cu(da)?(
        GetDevice | CtxGetDevice | CtxGetCurrent | GetLastError | PeekAtLastError
      | StreamIsCapturing | KernelGetAttribute | DevicePrimaryCtxGetState | PointerGetAttributes?
      | (Push|Pop)CallConfiguration
    )(_v\d|_ptsz)*$""", re.X)
GRAPH_LAUNCH = re.compile(r"^cu(da)?GraphLaunch(_ptsz)?$")


def without_version(name):
    """cudaLaunchKernel_v7000 -> cudaLaunchKernel; ABI twins of the driver (_v2) stay."""
    return re.sub(r"_v\d{4,}", "", name)


def demangle(names):
    """{mangled: demangled} by c++filt, which is not the code under test."""
    names = sorted(set(names))
    text = "\n".join(names)
    answer = subprocess.run(["c++filt"], input=text, capture_output=True, text=True, check=True)
    return dict(zip(names, answer.stdout.split("\n")))


def read_log(path):
    """The log of one process by type of line."""
    lines = collections.defaultdict(list)
    with open(path, encoding="utf-8") as log:
        for line in log:
            entry = json.loads(line)
            lines[entry["type"]].append(entry)
    return lines


class Executed:
    """What one process did, as rows that can be compared."""

    def __init__(self, log, kinds):
        self.kinds = kinds
        self.log = self.seen(log)
        self.kernel_names = demangle(entry["name"] for entry in log["kernel"])
        self.record_calls = {entry["record"]: entry for entry in log["event_record"]}

    def seen(self, log):
        """The log without what is not to be recorded."""
        group_of = {"kernel": "kernels", "copy": "copies", "fill": "fills", "sync": "syncs",
                    "memory": "memory", "pool": "pools", "migration": "unified-memory"}
        log = collections.defaultdict(list, {
            kind: lines for kind, lines in log.items()
            if group_of.get(kind, "always") in self.kinds | {"always"}})
        if "graph-nodes" in self.kinds:
            log["graph_launch"] = []
        else:
            log["node"] = log["dependency"] = []
            for kind in ("kernel", "copy", "fill"):
                log[kind] = [entry for entry in log[kind] if not entry["graph"]]
        return log

    def where(self, entry):
        return (entry["start"], entry["end"], entry["device"], entry["context"], entry["stream"],
                entry["correlation"], entry["graph"], entry["node"])

    def kernels(self):
        for k in self.log["kernel"]:
            yield (self.kernel_names[k["name"]], *self.where(k), *k["grid"], *k["block"],
                   *k["cluster"], k["registers"], k["static_shared"], k["dynamic_shared"], k["local"])

    def copies(self):
        for c in self.log["copy"]:
            yield (c["kind"], c["source"], c["target"], c["bytes"], *self.where(c))

    def fills(self):
        for f in self.log["fill"]:
            yield (f["memory"], f["bytes"], *self.where(f))

    def is_recorded(self, call):
        if "calls" in self.kinds:
            return not NOISY.match(call)
        if "launches" in self.kinds:
            return LEVEL_1.match(call)
        return "graph-nodes" not in self.kinds and GRAPH_LAUNCH.match(call)

    def calls(self):
        for c in self.log["call"]:
            name = without_version(c["name"])
            if self.is_recorded(name):
                yield (c["domain"], name, c["start"], c["end"], c["correlation"], c["result"])

    def syncs(self):
        for s in self.log["sync"]:
            record = self.record_calls.get(s["record"])
            about_event = s["kind"] in ("event", "stream_wait_event")
            yield (s["kind"], s["start"], s["end"], s["correlation"],
                   s["stream"] if s["kind"] != "event" and s["stream"] != NONE else None,
                   s["event"] if about_event else None,
                   record["stream"] if about_event and record else None,
                   record["correlation"] if about_event and record else None)

    def event_records(self):
        for e in self.log["event_record"] if "events" in self.kinds else []:
            yield (e["event"], e["context"], e["stream"], e["correlation"])

    def streams(self):
        made = set()
        for s in self.log["stream"]:
            if s["what"] == "created":
                made.add((s["context"], s["stream"]))
                flag = {"null": "null_stream", "per_thread": "blocking"}.get(s["flag"], s["flag"])
                yield (s["context"], s["stream"], flag, s["priority"])
        # Branches of a graph run on streams that nobody created.
        for context, stream in {(e["context"], e["stream"]) for e in self.work()} - made:
            yield (context, stream, "unknown", None)

    def nodes(self):
        """Nodes that ran: (graph, node)."""
        return sorted({(entry["graph"], entry["node"]) for entry in self.work()
                       if entry.get("node")})

    def edges(self):
        """Dependencies in graphs that ran: (graph, from, to)."""
        ran = {graph for graph, _ in self.nodes()}
        edges, graph_of = set(), {}
        for n in self.log["node"]:
            graph_of[n["node"]] = n["graph"]
            edges |= {(n["graph"], before, n["node"]) for before in n["dependencies"]}
        for d in self.log["dependency"]:
            edge = (graph_of[d["to"]], d["from"], d["to"])
            edges = edges | {edge} if d["what"] == "created" else edges - {edge}
        return sorted(edge for edge in edges if edge[0] in ran)

    def work(self):
        return (self.log["kernel"] + self.log["copy"] + self.log["fill"] +
                self.log["graph_launch"])

    def graph_launches(self):
        for g in self.log["graph_launch"]:
            yield (f"CUDA graph {g['graph']}", g["start"], g["end"], g["device"], g["context"],
                   g["stream"], g["graph"], g["correlation"])

    def memory(self):
        for m in self.log["memory"]:
            yield (m["time"], m["bytes"] if m["what"] == "allocated" else -m["bytes"], m["memory"],
                   hex(m["address"]), None if m["memory"] in ("pageable", "pinned") else m["device"],
                   m["stream"] if m["async"] else None, hex(m["pool"]) if m["pool"] else None,
                   m["pool_used"] if m["pool"] else None, m["pool_size"] if m["pool"] else None,
                   m["correlation"])

    def pools(self):
        for p in self.log["pool"]:
            yield (p["time"], p["what"], hex(p["pool"]), p["device"], p["size"], p["used"],
                   min(p["release_threshold"], 2**63 - 1))

    def migrations(self):
        for m in self.log["migration"]:
            to_device = m["direction"] == "host_to_device"
            yield (m["start"], m["end"], m["direction"], m["bytes"], hex(m["address"]),
                   None if to_device else m["device"], m["device"] if to_device else None)


WHERE = """{0}.start_ns, {0}.end_ns, device.ordinal, context.context_id, stream.stream_id,
  {0}.correlation, coalesce(graph_node.graph_id, 0), coalesce(graph_node.node_id, 0)"""
JOIN = """JOIN stream ON stream.id = {0}.stream JOIN context ON context.id = stream.context
  JOIN device ON device.id = context.device LEFT JOIN graph_node ON graph_node.id = {0}.graph_node"""


class Recorded:
    """What the run.db says of one process, as the same rows."""

    def __init__(self, db, process):
        self.db = db
        self.process = process

    def rows(self, sql):
        return self.db.execute(sql, (self.process,))

    def kernels(self):
        return self.rows(f"""SELECT name.text, {WHERE.format('kernel')}, grid_x, grid_y, grid_z,
          block_x, block_y, block_z, coalesce(cluster_x, 0), coalesce(cluster_y, 0),
          coalesce(cluster_z, 0), registers_per_thread,
          static_shared_bytes, dynamic_shared_bytes, local_bytes_per_thread FROM kernel
          {JOIN.format('kernel')} JOIN string name ON name.id = kernel.name
          LEFT JOIN launch_config ON launch_config.id = kernel.launch_config
          WHERE context.process = ?""")

    def copies(self):
        return self.rows(f"""SELECT n.kind, n.source_memory, n.target_memory, copy.bytes,
          {WHERE.format('copy')} FROM copy {JOIN.format('copy')}
          JOIN copy_named n ON n.id = copy.id WHERE context.process = ?""")

    def fills(self):
        return self.rows(f"""SELECT n.memory, fill.bytes, {WHERE.format('fill')} FROM fill
          {JOIN.format('fill')} JOIN fill_named n ON n.id = fill.id WHERE context.process = ?""")

    def calls(self):
        for row in self.rows("""SELECT n.kind, n.name, n.start_ns, n.end_ns, n.correlation, n.result
              FROM api_call JOIN api_call_named n ON n.id = api_call.id
              JOIN thread ON thread.id = api_call.thread WHERE thread.process = ?"""):
            yield row

    def syncs(self):
        return self.rows("""SELECT n.kind, n.start_ns, n.end_ns, n.correlation,
          CASE WHEN n.kind = 'event' THEN NULL ELSE n.stream_id END, n.event_id, n.event_stream_id,
          record.correlation
          FROM sync JOIN sync_named n ON n.id = sync.id JOIN api_call ON api_call.id = sync.call
          JOIN thread ON thread.id = api_call.thread
          LEFT JOIN api_call record ON record.id = sync.event_record WHERE thread.process = ?""")

    def event_records(self):
        return self.rows("""SELECT event_id, context.context_id, stream.stream_id, correlation
          FROM cuda_event JOIN stream ON stream.id = cuda_event.stream
          JOIN context ON context.id = stream.context WHERE context.process = ?""")

    def streams(self):
        return self.rows("""SELECT context.context_id, stream.stream_id, n.flags, stream.priority
          FROM stream JOIN stream_named n ON n.id = stream.id
          JOIN context ON context.id = stream.context WHERE context.process = ?""")

    def nodes(self):
        return self.rows("""SELECT DISTINCT graph_id, node_id FROM graph_node WHERE id IN (
          SELECT graph_node FROM kernel UNION SELECT graph_node FROM copy
          UNION SELECT graph_node FROM fill) AND process = ?""")

    def edges(self):
        return self.rows("""SELECT source.graph_id, source.node_id, target.node_id FROM graph_edge
          JOIN graph_node source ON source.id = graph_edge.source
          JOIN graph_node target ON target.id = graph_edge.target
          WHERE source.process = target.process AND source.graph_id = target.graph_id
          AND (source.process, source.graph_id) IN (
            SELECT process, graph_id FROM graph_node WHERE id IN (SELECT graph_node FROM kernel
              UNION SELECT graph_node FROM copy UNION SELECT graph_node FROM fill))
          AND source.process = ?""")


    def graph_launches(self):
        return self.rows("""SELECT name.text, start_ns, end_ns, device.ordinal, context.context_id,
          stream.stream_id, graph_id, correlation FROM graph_launch
          JOIN stream ON stream.id = graph_launch.stream JOIN context ON context.id = stream.context
          JOIN device ON device.id = context.device JOIN string name ON name.id = graph_launch.name
          WHERE context.process = ?""")

    # Of a process through the call that did it: each has one, and that is compared with it.
    def memory(self):
        return self.rows("""SELECT n.time_ns, n.bytes, n.memory, n.address, n.device_ordinal,
          n.stream_id, n.pool, n.total_allocated, n.total_reserved, api_call.correlation
          FROM memory_event JOIN memory_event_named n ON n.id = memory_event.id
          JOIN api_call ON api_call.id = memory_event.call
          JOIN thread ON thread.id = api_call.thread WHERE thread.process = ?""")

    def pools(self):
        return self.rows("""SELECT n.time_ns, n.operation, n.pool, n.device_ordinal, n.bytes,
          n.used_bytes, n.release_threshold_bytes FROM memory_pool_event
          JOIN memory_pool_event_named n ON n.id = memory_pool_event.id
          WHERE memory_pool_event.process = ?""")

    def migrations(self):
        """Of a recording of one process: they name none."""
        return self.rows("""SELECT start_ns, end_ns, kind, value, address, source_ordinal,
          target_ordinal FROM migration_named WHERE (SELECT count(*) FROM process) = 1 AND ? >= 0""")


TABLES = ("kernels", "copies", "fills", "calls", "syncs", "event_records", "streams", "nodes",
          "edges", "graph_launches", "memory", "pools", "migrations")


OPTIONAL = ("graph_launches", "memory", "pools", "migrations")


def compare(table, executed, recorded):
    """Prints what only one side has; how many rows differ."""
    executed = collections.Counter(tuple(row) for row in executed)
    recorded = collections.Counter(tuple(row) for row in recorded)
    missing, invented = executed - recorded, recorded - executed
    for what, rows in (("executed, not recorded", missing), ("recorded, not executed", invented)):
        for row, count in list(rows.items())[:5]:
            print(f"{table}: {what} ({count}x of {sum(rows.values())}): {row}")
    return sum(missing.values()) + sum(invented.values()), sum(executed.values())


def log_of(pid, logs):
    """A process's log, told by its name, which holds the pid."""
    own = [log for log in logs if re.search(rf"\b{pid}\b", log)]
    return own[0] if own else (logs[0] if len(logs) == 1 else None)


def recorded_kinds(db):
    """What the recording was to hold."""
    kinds = db.execute("SELECT value FROM meta WHERE key = 'recorded_kinds'").fetchone()
    return set(kinds[0].split(",")) if kinds else set()


def main(arguments):
    db = sqlite3.connect(f"file:{arguments[0]}?mode=ro", uri=True)
    logs = arguments[1:]
    different, compared = 0, collections.Counter()
    kinds = recorded_kinds(db)
    processes = db.execute("SELECT id, pid FROM process").fetchall()
    for process, pid in processes:
        path = log_of(pid, logs)
        if path is None:
            print(f"process {pid}: no log")
            continue
        executed, recorded = Executed(read_log(path), kinds), Recorded(db, process)
        for table in TABLES:
            wrong, count = compare(table, getattr(executed, table)(), getattr(recorded, table)())
            different += wrong
            compared[table] += count
    print(", ".join(f"{count} {table.replace('_', ' ')}" for table, count in compared.items() if count or table not in OPTIONAL),
          "equal" if different == 0 else f"compared, {different} rows differ")
    if not processes or compared["calls"] == 0:
        print("nothing to compare")
        return 1
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
