"""What only a driver can answer, asked by small libraries of the check's own."""

import json


def probe(installation, question, *program, **environment):
    """The answer of cupti_probe to a question about a program."""
    answer = installation.out / f"probe_{question}.json"
    answer.unlink(missing_ok=True)
    installation.call(f"probe_{question}", *program, GPU_CHECK_PROBE=question,
                      GPU_CHECK_ANSWER=str(answer), GPU_CHECK_CUPTI=installation.cupti,
                      CUDA_INJECTION64_PATH=str(installation.file("cupti_probe.so")), **environment)
    if not answer.is_file():
        return {"error": "the probe was not loaded, or the program ended without exit handlers"}
    return json.loads(answer.read_text(encoding="utf-8"))


def refusing_injection(installation):
    found = json.loads(installation.call(
        "refusing_injection", *installation.program("cuda_init"),
        CUDA_INJECTION64_PATH=str(installation.file("refusing_injection.so"))))
    return {"question": "does cuInit survive an injection library that refuses?",
            "answer": "yes" if found.get("cuInit") == 0 else "no", "measured": found}


def driver_kind(installation):
    found = probe(installation, "driver_kind", *installation.program(
        "known_work", *(["--simulated"] if installation.simulated else [])))
    answer = "unknown"
    if not found["error"] and found["kernels"] > 0:
        answer = "yes" if found["launches_without_record"] == 0 else "no"
    return {"question": "do records of driver calls alone suffice for programs of the runtime?",
            "answer": answer, "measured": found}


def withheld(installation, seconds):
    found = probe(installation, "withhold", *installation.program("loops", "short", seconds))
    answer = "unknown"
    if not found["error"] and found["kernels"] > 0:
        late = found["kernels"] - found["kernels_before_forced_flush"]
        answer = (f"median {found['delay_median_ns'] / 1e6:.1f} ms, 99 % "
                  f"{found['delay_p99_ns'] / 1e6:.1f} ms, most {found['delay_most_ns'] / 1e6:.1f} ms; "
                  f"{late} of {found['kernels']} came only by the forced flush")
    return {"question": "how long does FlushAll(0) each 100 ms withhold records under load?",
            "answer": answer, "measured": found}


def late_graph(installation, seconds):
    after_ms = round(seconds * 1000 / 3)
    found = probe(installation, "late_graph", *installation.program("loops", "graph", seconds),
                  GPU_CHECK_AFTER_MS=str(after_ms))
    answer = "unknown"
    if not found["error"]:
        answer = "no kernels at all" if found["kernels"] == 0 else "no: kernels without nodes"
        if found["kernels_with_node"] > 0:
            answer = "yes" if found["kernels_without_node"] == 0 else "in part"
    return {"question": "can node tracing start on graphs that are instantiated already?",
            "answer": answer, "measured": found}


def ask_all(checks, installation, seconds):
    answers = []
    for ask, arguments in ((refusing_injection, []), (driver_kind, []), (withheld, [seconds]),
                           (late_graph, [seconds])):
        before = len(answers)
        checks.attempt(ask.__name__, lambda a=ask, b=arguments: answers.append(a(installation, *b)))
        if len(answers) > before:
            checks.add(f"question {ask.__name__}", answers[-1]["answer"] != "unknown",
                       answers[-1]["answer"])
    return answers
