"""Recordings against what their programs know of themselves."""

import json

from installation import Failed

# A recording may put a kernel this much outside the host's window around it: skews of 9 us between
# host and GPU clocks have been seen, and a faulty conversion is off by milliseconds.
CLOCK_TOLERANCE_NS = 100_000


class Checks:
    """Named results, in order: ok is True, False or None (not checked, and why)."""

    def __init__(self):
        self.rows = []

    def add(self, name, ok, detail=""):
        self.rows.append({"name": name, "ok": ok, "detail": str(detail)})

    def equal(self, name, found, expected):
        self.add(name, found == expected,
                 f"{found}" if found == expected else f"{found}, expected {expected}")

    def attempt(self, name, function, *arguments):
        """Runs a step whose failure is a failed check, not the end of the check."""
        try:
            function(*arguments)
        except (Failed, ValueError, KeyError, IndexError) as error:
            self.add(name, False, f"{type(error).__name__}: {error}")


def completeness(checks, installation, name):
    """Every submission has its work, none was lost, none is before its launch."""
    report = installation.report(name)
    quality = report["quality"]
    warnings = {w["code"]: w["count"] for w in quality["warnings"]}
    checks.equal(f"{name}: coverage", (quality["coverage"], quality["unlinked"]), (1, 0))
    checks.equal(f"{name}: dropped", quality["dropped"], 0)
    checks.equal(f"{name}: work without time stamps", quality["no_timestamp"], 0)
    checks.equal(f"{name}: kernels before their launch", warnings.get("before_launch", 0), 0)
    checks.equal(f"{name}: marked simulated", report["run"]["simulated"], installation.simulated)
    return report


def check_counts(checks, installation, name, truth):
    names = installation.query(name, "SELECT name, count(*) FROM kernel_named GROUP BY name")
    found = {text.split("(")[0]: count for text, count in names}
    checks.equal(f"{name}: kernels by name", found, truth["kernels"])
    copies = dict(installation.query(name, "SELECT kind, count(*) FROM copy_named GROUP BY kind"))
    checks.equal(f"{name}: copies by direction",
                 {kind: copies.get(kind, 0) for kind in truth["copies"]}, truth["copies"])
    sizes = {size for size, in installation.query(name, "SELECT DISTINCT bytes FROM copy")}
    checks.equal(f"{name}: bytes of copies", sizes, {truth["copy_bytes"]})
    (fills,), = installation.query(name, "SELECT count(*) FROM fill")
    checks.equal(f"{name}: fills", fills, truth["fills"])
    ranges = dict(installation.query(name, "SELECT name, count(*) FROM range_named GROUP BY name"))
    checks.equal(f"{name}: NVTX ranges", ranges, truth["ranges"])


def check_graph(checks, installation, name, truth):
    graph = truth["graph"]
    nodes = installation.query(
        name, "SELECT node_id, count(*) FROM kernel_named WHERE name LIKE 'in_graph%' "
              "GROUP BY graph_id, node_id")
    checks.equal(f"{name}: kernel nodes of the graph",
                 (len(nodes), {count for _, count in nodes}),
                 (graph["kernel_nodes"], {graph["launches"]}))
    checks.add(f"{name}: every node has an id", all(node for node, _ in nodes))
    ops = installation.query(
        name, "SELECT DISTINCT s.text FROM kernel_named k JOIN kernel t ON t.id = k.id "
              "JOIN graph_node g ON g.id = t.graph_node LEFT JOIN range r ON r.id = g.op "
              "LEFT JOIN string s ON s.id = r.name WHERE k.name LIKE 'in_graph%'")
    checks.equal(f"{name}: op of replayed kernels", ops, [(graph["capture_range"],)])


def check_times(checks, installation, name, truth):
    """CUPTI's times against the host's clock around the work."""
    outside = 0
    for phase, (begin, end) in truth["windows"].items():
        (first, last), = installation.query(
            name, "SELECT min(start_ns), max(end_ns) FROM kernel_named WHERE name LIKE ?",
            f"{phase}%")
        outside = max(outside, begin - first, last - end)
    (negative,), = installation.query(name, "SELECT count(*) FROM kernel WHERE end_ns < start_ns")
    checks.equal(f"{name}: kernels that end before they start", negative, 0)
    checks.add(f"{name}: kernels within the host's windows", outside <= CLOCK_TOLERANCE_NS,
               f"at most {max(outside, 0)} ns outside")


def check_memory(checks, installation, name, truth):
    rows = installation.query(name, "SELECT bytes FROM memory_event WHERE memory = 3")
    taken = [size for size, in rows if size > 0]
    known = truth["allocations"]
    # The runtime's own allocations are recorded with the program's.
    checks.add(f"{name}: allocations", len(taken) >= known["count"] and sum(taken) >= known["bytes"],
               f"{len(taken)} of {sum(taken)} bytes, the program's own are {known}")
    checks.add(f"{name}: frees", len(rows) - len(taken) >= truth["frees"], len(rows) - len(taken))


def check_known_work(checks, installation):
    levels = [level for level in installation.levels if level != 0]
    options = ["--simulated"] if installation.simulated else []
    for level in levels:
        name = "known_work" if level is None else f"known_work_{level}"
        output = installation.record(name, level, *installation.program("known_work", *options))
        truth = json.loads(output.strip().splitlines()[-1])
        checks.add(f"{name}: the program's own results",
                   None if installation.simulated else truth["verified"],
                   "a simulated GPU computes nothing" if installation.simulated else "")
        completeness(checks, installation, name)
        for step in (check_counts, check_graph, check_times):
            step(checks, installation, name, truth)
        if level == 2:
            check_memory(checks, installation, name, truth)
        else:
            checks.add(f"{name}: memory events", None, "recorded from level 2 on")


def check_sample(checks, installation, tokens):
    """llama_infer: its tokens against the CPU's, then its recording with and without a graph."""
    for variant, options in (("plain", []), ("graph", ["--graph"])):
        name = f"llama_infer_{variant}"
        if installation.simulated:
            checks.add(f"{name}: tokens equal the CPU's", None, "a simulated GPU computes nothing")
        else:
            installation.call(f"verify_{variant}",
                              *installation.program("llama_infer", "--verify", *options))
            checks.add(f"{name}: tokens equal the CPU's", True)
        installation.record(name, None, *installation.program(
            "llama_infer", "--output-length", tokens, *options))
        report = completeness(checks, installation, name)
        # Each step after the prefill gives a token and is one range.
        (ranges,), = installation.query(
            name, "SELECT count(*) FROM range_named WHERE name = 'decode_step'")
        checks.equal(f"{name}: ranges of steps", ranges, tokens - 1)
        if installation.simulated:
            checks.add(f"{name}: steps found", None, "so few of them, timed on a busy CPU")
        else:
            checks.equal(f"{name}: steps found", report["steps"]["count"], tokens - 1)
        ops = {op["path"]: op["kernels"] for op in report["ops"]}
        checks.add(f"{name}: kernels of a layer's attention",
                   ops.get("decode_step/layer_0/attention", 0) > 0,
                   ops.get("decode_step/layer_0/attention", 0))
