"""A program of several processes, for test_processes.py: process_shapes.py CUDART SHAPE.

Each process that works fills memory a number of times of its own, so that it can be told in the
recording. Those that end without exit handlers (_exit, as forked children of multiprocessing do)
first wait until what they did is on disk, for a tool may lose the last 0.1 s of such a process.
"""

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time


def check(status):
    if status != 0:
        raise RuntimeError(f"CUDA error {status}")


def work(fills):
    runtime = ctypes.CDLL(sys.argv[1])
    memory = ctypes.c_void_p()
    check(runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096)))
    for _ in range(fills):
        check(runtime.cudaMemset(memory, 0, ctypes.c_size_t(4096)))
    check(runtime.cudaDeviceSynchronize())


def only_start_cuda():
    count = ctypes.c_int()
    check(ctypes.CDLL(sys.argv[1]).cudaGetDeviceCount(ctypes.byref(count)))


def spool_bytes():
    folder = os.environ.get("GPROFML_SPOOL_DIR", "")
    if not folder:
        return 0
    return sum(os.stat(f"{folder}/{name}").st_size for name in os.listdir(folder)
               if f"-{os.getpid()}-" in name)


def work_and_wait(fills):
    """Until the process's spool has grown by what was done, and then for a while no more."""
    work(fills)
    if "GPROFML_SPOOL_DIR" not in os.environ:
        return
    least = 64 * fills
    size, quiet = 0, 0
    for _ in range(600):
        time.sleep(0.1)
        now = spool_bytes()
        quiet = quiet + 1 if now == size or now - size < 200 else 0
        size = now
        if size > least and quiet >= 6:
            return


def multiprocess(method):
    context = multiprocessing.get_context(method)
    children = [context.Process(target=work_and_wait, args=(fills,)) for fills in (11, 12)]
    for child in children:
        child.start()
    for child in children:
        child.join()
        if child.exitcode != 0:
            sys.exit(f"a child ended with {child.exitcode}")


def forked(after):
    """A child by fork; the parent works before it or after it."""
    if not after:
        work(20)  # CUDA does not work in the child of such a process
    child = os.fork()
    if child == 0:
        if after:
            work_and_wait(21)
        os._exit(7)
    status = os.waitpid(child, 0)[1]
    if after:
        work(20)
    sys.exit(os.WEXITSTATUS(status))


def daemon():
    """A double fork and a session of its own; the program ends at once, the daemon goes on."""
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        os.close(read_end)
        for descriptor in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
        work(31)
        os.write(write_end, b"x")  # only now may the program end: the recording has begun
        os.close(write_end)
        time.sleep(float(os.environ.get("DAEMON_SECONDS", "0")))
        work(32)
        sys.exit(0)
    os.close(write_end)
    os.wait()
    os.read(read_end, 1)


def execed():
    """Works, then becomes another program under the same pid."""
    work_and_wait(41)
    os.environ["SECOND"] = "1"
    os.execv(sys.executable, [sys.executable, *sys.argv[:2], "second"])


def spawned():
    """posix_spawn and vfork (subprocess uses it), each a child that works."""
    arguments = [sys.executable, *sys.argv[:2]]
    child = os.posix_spawn(sys.executable, [*arguments, "fills", "51"], os.environ)
    os.waitpid(child, 0)
    subprocess.run([*arguments, "fills", "52"], close_fds=False, check=True)
    work(50)


def helpers():
    """Processes with nothing to record, in all ways to end, beside one that works."""
    for _ in range(3):
        if os.fork() == 0:
            os._exit(0)
    arguments = [sys.executable, *sys.argv[:2]]
    subprocess.run(["true"], check=True)
    subprocess.run([*arguments, "only_start_cuda"], check=True)
    subprocess.run([*arguments, "only_start_cuda_and_exit"], check=True)
    for _ in range(3):
        os.wait()
    work(60)


def ranks(count):
    """As mpirun: each rank a program of its own, with the variables that say so."""
    children = []
    for rank in range(count):
        environment = {**os.environ, "OMPI_COMM_WORLD_RANK": str(rank),
                       "OMPI_COMM_WORLD_SIZE": str(count), "OMPI_COMM_WORLD_LOCAL_RANK": str(rank)}
        children.append(subprocess.Popen([sys.executable, *sys.argv[:2], "fills", str(70 + rank)],
                                         env=environment))
    sys.exit(max(child.wait() for child in children))


def torchrun(count):
    """As torchrun: workers by fork and exec with RANK, and an agent that does no GPU work."""
    children = []
    for rank in range(count):
        environment = {**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank),
                       "WORLD_SIZE": str(count), "TORCHELASTIC_RUN_ID": "none",
                       "SLURM_PROCID": "0", "SLURM_STEP_ID": "0"}
        children.append(subprocess.Popen([sys.executable, *sys.argv[:2], "fills", str(80 + rank)],
                                         env=environment))
    sys.exit(max(child.wait() for child in children))


def until_signal():
    """Works, says so, waits for a signal and dies of it."""
    work(90)
    print("works", flush=True)
    signal.pause()


def name_thread(name):
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)  # PR_SET_NAME


def burn():
    """One thread uses 0.3 s of CPU, another sleeps, both to the end of the work."""
    over = threading.Event()

    def burner():
        name_thread("burner")
        while time.thread_time() < 0.4:
            pass

    def sleeper():
        name_thread("sleeper")
        over.wait()

    work(5)
    threads = [threading.Thread(target=target) for target in (burner, sleeper)]
    for thread in threads:
        thread.start()
    threads[0].join()
    over.set()
    work(5)


SHAPES = {
    "burn": burn,
    "fork": lambda: multiprocess("fork"),
    "spawn": lambda: multiprocess("spawn"),
    "forkserver": lambda: multiprocess("forkserver"),
    "fork_first": lambda: forked(after=True),
    "fork_later": lambda: forked(after=False),
    "daemon": daemon,
    "exec": execed,
    "second": lambda: work(42),
    "spawned": spawned,
    "fills": lambda: work(int(sys.argv[3])),
    "helpers": helpers,
    "only_start_cuda": only_start_cuda,
    "only_start_cuda_and_exit": lambda: (only_start_cuda(), os._exit(0)),
    "ranks": lambda: ranks(3),
    "torchrun": lambda: torchrun(2),
    "until_signal": until_signal,
}

if __name__ == "__main__":
    SHAPES[sys.argv[2]]()
