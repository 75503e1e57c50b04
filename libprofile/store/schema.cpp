#include "libprofile/store/schema.hpp"

namespace gprofml::profile {

// Columns that most queries want stand first: SQLite decodes a row up to the last column asked for.
// REFERENCES clauses are for readers and tools; nothing enforces them while writing in bulk.
const char* const kSchemaSql = R"sql(
-- What the run was and what wrote the file.
CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
);

-- Every name, once. Row 0 is the empty string, which stands for "none".
CREATE TABLE string (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL
);

-- Traced processes.
CREATE TABLE process (
  id INTEGER PRIMARY KEY,
  pid INTEGER,
  rank INTEGER,                                     -- in a distributed job
  host INTEGER NOT NULL REFERENCES string(id),
  source INTEGER NOT NULL REFERENCES string(id),    -- file it was read from
  command INTEGER NOT NULL REFERENCES string(id)
);

-- Host threads.
CREATE TABLE thread (
  id INTEGER PRIMARY KEY,
  process INTEGER REFERENCES process(id),
  pid INTEGER,                                      -- the operating system's, as recorded
  tid INTEGER,
  name INTEGER NOT NULL REFERENCES string(id)
);

-- Physical GPUs or MIG instances; two processes on one GPU share its row.
CREATE TABLE device (
  id INTEGER PRIMARY KEY,
  ordinal INTEGER,                                  -- as its process numbers it
  uuid INTEGER NOT NULL REFERENCES string(id),
  pci_bus INTEGER NOT NULL REFERENCES string(id),
  host INTEGER NOT NULL REFERENCES string(id),
  process INTEGER REFERENCES process(id),           -- only where uuid and pci_bus are not known
  name INTEGER NOT NULL REFERENCES string(id),
  memory_bytes INTEGER,
  multiprocessors INTEGER,
  compute_major INTEGER,
  compute_minor INTEGER
);

-- CUDA contexts.
CREATE TABLE context (
  id INTEGER PRIMARY KEY,
  process INTEGER REFERENCES process(id),
  device INTEGER REFERENCES device(id),
  context_id INTEGER                                -- as recorded
);

-- CUDA streams.
CREATE TABLE stream (
  id INTEGER PRIMARY KEY,
  context INTEGER REFERENCES context(id),
  stream_id INTEGER,                                -- as recorded
  flags INTEGER NOT NULL,                           -- 0 unknown, 1 blocking, 2 non_blocking, 3 null_stream, 4 per_thread
  priority INTEGER
);

-- How kernels were launched; each combination once.
CREATE TABLE launch_config (
  id INTEGER PRIMARY KEY,
  grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,
  block_x INTEGER, block_y INTEGER, block_z INTEGER,
  cluster_x INTEGER, cluster_y INTEGER, cluster_z INTEGER,
  registers_per_thread INTEGER,
  static_shared_bytes INTEGER,
  dynamic_shared_bytes INTEGER,
  local_bytes_per_thread INTEGER
);

-- Nodes of CUDA graphs.
CREATE TABLE graph_node (
  id INTEGER PRIMARY KEY,
  process INTEGER REFERENCES process(id),
  graph_id INTEGER,
  node_id INTEGER,
  type INTEGER NOT NULL REFERENCES string(id),      -- kernel, memcpy, …
  op INTEGER REFERENCES range(id),                  -- the range in which it was captured or made
  call INTEGER REFERENCES api_call(id)              -- the call that made it
);

-- Dependencies between nodes of CUDA graphs.
CREATE TABLE graph_edge (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES graph_node(id),
  target INTEGER NOT NULL REFERENCES graph_node(id) -- runs after source
);

-- Calls into the CUDA or HIP runtime or driver.
CREATE TABLE api_call (
  id INTEGER PRIMARY KEY,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  name INTEGER NOT NULL REFERENCES string(id),
  thread INTEGER REFERENCES thread(id),
  kind INTEGER NOT NULL,                            -- 0 runtime, 1 driver
  correlation INTEGER,
  result INTEGER                                    -- what it returned, 0: success
);

-- Named host intervals: NVTX ranges, framework ops, Python frames.
CREATE TABLE range (
  id INTEGER PRIMARY KEY,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  name INTEGER NOT NULL REFERENCES string(id),
  thread INTEGER REFERENCES thread(id),
  kind INTEGER NOT NULL,                            -- 0 op, 1 annotation, 2 push_pop, 3 start_end, 4 python_function
  domain INTEGER NOT NULL REFERENCES string(id),
  external_id INTEGER,
  category INTEGER NOT NULL REFERENCES string(id),
  color INTEGER                                     -- 0xAARRGGBB
);

-- What a program attached to a range.
CREATE TABLE range_payload (
  id INTEGER PRIMARY KEY,
  range INTEGER NOT NULL REFERENCES range(id),
  key INTEGER NOT NULL REFERENCES string(id),
  value INTEGER NOT NULL REFERENCES string(id)
);

-- Kernels. At most 12 columns: this is the table that grows.
CREATE TABLE kernel (
  id INTEGER PRIMARY KEY,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  name INTEGER NOT NULL REFERENCES string(id),
  stream INTEGER REFERENCES stream(id),
  launch INTEGER REFERENCES api_call(id),           -- NULL: no launch record
  launch_config INTEGER REFERENCES launch_config(id),
  op INTEGER REFERENCES range(id),                  -- the range the source itself names as origin
  graph_node INTEGER REFERENCES graph_node(id),
  correlation INTEGER,
  sequence INTEGER NOT NULL                         -- position among all GPU work of its source
);

-- Copies of memory with a GPU.
CREATE TABLE copy (
  id INTEGER PRIMARY KEY,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  name INTEGER NOT NULL REFERENCES string(id),
  stream INTEGER REFERENCES stream(id),
  launch INTEGER REFERENCES api_call(id),
  bytes INTEGER,
  kind INTEGER NOT NULL,                            -- see copy_named
  source_memory INTEGER NOT NULL,                   -- see copy_named
  target_memory INTEGER NOT NULL,
  op INTEGER REFERENCES range(id),
  graph_node INTEGER REFERENCES graph_node(id),
  correlation INTEGER,
  sequence INTEGER NOT NULL
);

-- Fills of GPU memory (memset).
CREATE TABLE fill (
  id INTEGER PRIMARY KEY,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  name INTEGER NOT NULL REFERENCES string(id),
  stream INTEGER REFERENCES stream(id),
  launch INTEGER REFERENCES api_call(id),
  bytes INTEGER,
  memory INTEGER NOT NULL,                          -- see fill_named
  op INTEGER REFERENCES range(id),
  graph_node INTEGER REFERENCES graph_node(id),
  correlation INTEGER,
  sequence INTEGER NOT NULL
);

-- CUDA graphs launched as a whole, where their nodes are not recorded.
CREATE TABLE graph_launch (
  id INTEGER PRIMARY KEY,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  name INTEGER NOT NULL REFERENCES string(id),
  stream INTEGER REFERENCES stream(id),
  launch INTEGER REFERENCES api_call(id),
  graph_id INTEGER,
  op INTEGER REFERENCES range(id),
  graph_node INTEGER REFERENCES graph_node(id),     -- always NULL
  correlation INTEGER,
  sequence INTEGER NOT NULL
);

-- What a synchronising call waited for, as the driver recorded it. Not GPU work.
CREATE TABLE sync (
  id INTEGER PRIMARY KEY,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  kind INTEGER NOT NULL,                            -- 0 unknown, 1 stream, 2 event, 3 stream_wait_event, 4 context
  device INTEGER REFERENCES device(id),
  stream INTEGER REFERENCES stream(id),
  event_stream INTEGER REFERENCES stream(id),       -- where the awaited event was recorded
  event_record INTEGER REFERENCES api_call(id),     -- the call that recorded it
  call INTEGER REFERENCES api_call(id),             -- the call that waits
  correlation INTEGER,
  event_id INTEGER
);

-- CUDA events put on a stream.
CREATE TABLE cuda_event (
  id INTEGER PRIMARY KEY,
  event_id INTEGER,
  stream INTEGER REFERENCES stream(id),
  call INTEGER REFERENCES api_call(id),             -- the cudaEventRecord
  correlation INTEGER,
  time_ns INTEGER                                   -- when the GPU reached it
);

-- Allocations (bytes > 0) and frees (bytes < 0).
CREATE TABLE memory_event (
  id INTEGER PRIMARY KEY,
  time_ns INTEGER NOT NULL,
  thread INTEGER REFERENCES thread(id),
  device INTEGER REFERENCES device(id),             -- NULL: host memory
  bytes INTEGER,
  address INTEGER NOT NULL,                         -- unsigned 64 bits, kept as the signed number of the same bits
  total_allocated INTEGER,
  total_reserved INTEGER,
  memory INTEGER NOT NULL,                          -- see memory_event_named
  stream INTEGER REFERENCES stream(id),             -- NULL: at once, not in the order of a stream
  call INTEGER REFERENCES api_call(id),
  pool INTEGER NOT NULL,                            -- its address as above; 0: none
  source INTEGER NOT NULL REFERENCES string(id),    -- the library that asked for it
  correlation INTEGER
);

-- What happened to pools of memory.
CREATE TABLE memory_pool_event (
  id INTEGER PRIMARY KEY,
  time_ns INTEGER NOT NULL,
  process INTEGER REFERENCES process(id),
  device INTEGER REFERENCES device(id),
  operation INTEGER NOT NULL,                       -- 0 unknown, 1 created, 2 destroyed, 3 trimmed
  pool INTEGER NOT NULL,                            -- its address, as in memory_event
  bytes INTEGER,                                    -- it holds
  used_bytes INTEGER,                               -- of them given out
  release_threshold_bytes INTEGER
);

-- Managed memory on the move: transfers and faults. Not GPU work.
CREATE TABLE migration (
  id INTEGER PRIMARY KEY,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  kind INTEGER NOT NULL,                            -- see migration_named
  source_device INTEGER REFERENCES device(id),      -- NULL: the host
  target_device INTEGER REFERENCES device(id),
  value INTEGER,                                    -- bytes of a transfer, number of faults
  address INTEGER NOT NULL
);

-- What a communication call moved.
CREATE TABLE collective (
  id INTEGER PRIMARY KEY,
  kernel INTEGER REFERENCES kernel(id),             -- NULL: none is known to be its
  communicator INTEGER NOT NULL REFERENCES string(id),
  operation INTEGER NOT NULL REFERENCES string(id),
  dtype INTEGER NOT NULL REFERENCES string(id),
  elements_in INTEGER,
  elements_out INTEGER,
  bytes INTEGER,                                    -- of the message
  range INTEGER REFERENCES range(id),               -- the call
  group_size INTEGER,
  ranks INTEGER NOT NULL REFERENCES string(id)
);

-- The GPU, looked at from outside now and then (NVML).
CREATE TABLE gpu_sample (
  id INTEGER PRIMARY KEY,
  time_ns INTEGER NOT NULL,
  device INTEGER REFERENCES device(id),
  sm_clock_mhz INTEGER,
  memory_clock_mhz INTEGER,
  power_mw INTEGER,
  temperature_c INTEGER,
  throttle_reasons INTEGER,                         -- NVML's bit mask
  memory_used_bytes INTEGER,
  busy_percent INTEGER,                             -- a kernel ran in so much of the time before
  foreign_processes INTEGER                         -- that use the GPU and are not recorded here
);

-- What host threads did, in all since each began (Linux: schedstat).
CREATE TABLE thread_sample (
  id INTEGER PRIMARY KEY,
  time_ns INTEGER NOT NULL,
  thread INTEGER REFERENCES thread(id),
  on_cpu_ns INTEGER,                                -- it ran
  runnable_ns INTEGER,                              -- it waited for a CPU
  timeslices INTEGER,                               -- times that it got one
  last_cpu INTEGER
);

-- Intervals in which a process was recorded; a process without any was recorded all along.
CREATE TABLE window (
  id INTEGER PRIMARY KEY,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  process INTEGER REFERENCES process(id),
  reason INTEGER NOT NULL REFERENCES string(id)     -- what opened it
);

-- What the recorder did to itself: a budget, a size limit, a clock that was set.
CREATE TABLE capture_event (
  id INTEGER PRIMARY KEY,
  time_ns INTEGER NOT NULL,
  process INTEGER REFERENCES process(id),
  kind INTEGER NOT NULL REFERENCES string(id),      -- stable, machine-readable
  detail INTEGER NOT NULL REFERENCES string(id),
  value INTEGER
);

-- Frames of call stacks. Stacks share their outer frames; a call names its innermost one.
CREATE TABLE stack_frame (
  id INTEGER PRIMARY KEY,
  parent INTEGER REFERENCES stack_frame(id),        -- called this one; NULL: outermost
  function INTEGER NOT NULL REFERENCES string(id),
  module INTEGER NOT NULL REFERENCES string(id),
  offset INTEGER                                    -- in the module, where the function is not known
);

-- Where CUDA calls came from, and nodes of graphs when they were captured.
CREATE TABLE call_stack (
  id INTEGER PRIMARY KEY,
  call INTEGER REFERENCES api_call(id),
  graph_node INTEGER REFERENCES graph_node(id),
  frame INTEGER REFERENCES stack_frame(id)
);

-- Files mapped into processes.
CREATE TABLE module (
  id INTEGER PRIMARY KEY,
  process INTEGER REFERENCES process(id),
  path INTEGER NOT NULL REFERENCES string(id),
  build_id INTEGER NOT NULL REFERENCES string(id),
  base INTEGER NOT NULL,                            -- address as above
  bytes INTEGER
);

-- Hardware counters and derived metrics that have values in this file.
CREATE TABLE counter_metric (
  id INTEGER PRIMARY KEY,
  name INTEGER NOT NULL REFERENCES string(id),
  unit INTEGER NOT NULL REFERENCES string(id),
  description INTEGER NOT NULL REFERENCES string(id)
);

-- Metrics sampled over time.
CREATE TABLE counter_sample (
  id INTEGER PRIMARY KEY,
  time_ns INTEGER NOT NULL,
  metric INTEGER NOT NULL REFERENCES counter_metric(id),
  device INTEGER REFERENCES device(id),             -- of a device
  process INTEGER REFERENCES process(id),           -- of a program's own counter
  value REAL NOT NULL
);

-- Metrics of one kernel.
CREATE TABLE kernel_counter (
  id INTEGER PRIMARY KEY,
  kernel INTEGER NOT NULL REFERENCES kernel(id),
  metric INTEGER NOT NULL REFERENCES counter_metric(id),
  value REAL
);

-- One moment on the clocks of a process. Times of all tables are on CUPTI's.
CREATE TABLE clock_pair (
  id INTEGER PRIMARY KEY,
  process INTEGER REFERENCES process(id),
  realtime_ns INTEGER NOT NULL,
  monotonic_ns INTEGER NOT NULL,
  cupti_ns INTEGER,                                 -- NULL: no CUPTI
  uncertainty_ns INTEGER                            -- between the first and the last look
);

-- Time that recording itself took.
CREATE TABLE overhead (
  id INTEGER PRIMARY KEY,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  kind INTEGER NOT NULL REFERENCES string(id),
  process INTEGER REFERENCES process(id),
  thread INTEGER REFERENCES thread(id)
);

-- What the recorder or importer wants known about the data.
CREATE TABLE quality (
  id INTEGER PRIMARY KEY,
  process INTEGER REFERENCES process(id),
  code INTEGER NOT NULL REFERENCES string(id),      -- stable, machine-readable
  count INTEGER,
  detail INTEGER NOT NULL REFERENCES string(id)
);

CREATE VIEW process_named AS
SELECT process.id, pid, rank, host.text AS host, source.text AS source, command.text AS command
FROM process
  LEFT JOIN string AS host ON host.id = process.host
  LEFT JOIN string AS source ON source.id = process.source
  LEFT JOIN string AS command ON command.id = process.command;

CREATE VIEW thread_named AS
SELECT thread.id, name.text AS name, thread.pid, thread.tid, thread.process,
  process.pid AS process_pid, process.rank AS rank
FROM thread
  LEFT JOIN string AS name ON name.id = thread.name
  LEFT JOIN process ON process.id = thread.process;

CREATE VIEW device_named AS
SELECT device.id, name.text AS name, ordinal, uuid.text AS uuid, pci_bus.text AS pci_bus,
  host.text AS host, process.pid AS process_pid, memory_bytes, multiprocessors, compute_major,
  compute_minor
FROM device
  LEFT JOIN string AS name ON name.id = device.name
  LEFT JOIN string AS uuid ON uuid.id = device.uuid
  LEFT JOIN string AS pci_bus ON pci_bus.id = device.pci_bus
  LEFT JOIN string AS host ON host.id = device.host
  LEFT JOIN process ON process.id = device.process;

-- A stream with the context, device and process it belongs to; the other views build on it.
CREATE VIEW stream_named AS
SELECT stream.id, stream.stream_id, stream.context, context.context_id, context.device,
  device.ordinal AS device_ordinal, name.text AS device_name, context.process,
  process.pid AS process_pid, process.rank AS rank,
  CASE stream.flags WHEN 0 THEN 'unknown' WHEN 1 THEN 'blocking' WHEN 2 THEN 'non_blocking'
    WHEN 3 THEN 'null_stream' WHEN 4 THEN 'per_thread' END AS flags,
  stream.priority
FROM stream
  LEFT JOIN context ON context.id = stream.context
  LEFT JOIN device ON device.id = context.device
  LEFT JOIN string AS name ON name.id = device.name
  LEFT JOIN process ON process.id = context.process;

CREATE VIEW graph_node_named AS
SELECT graph_node.id, graph_id, node_id, type.text AS type,
  (SELECT text FROM range JOIN string ON string.id = range.name
   WHERE range.id = graph_node.op) AS op_name,
  (SELECT text FROM api_call JOIN string ON string.id = api_call.name
   WHERE api_call.id = graph_node.call) AS call_name,
  process.pid AS process_pid, process.rank AS rank
FROM graph_node
  LEFT JOIN string AS type ON type.id = graph_node.type
  LEFT JOIN process ON process.id = graph_node.process;

CREATE VIEW kernel_named AS
SELECT kernel.id, name.text AS name, start_ns, end_ns, end_ns - start_ns AS duration_ns,
  stream.device, stream.device_ordinal, stream.stream_id, stream.process_pid, stream.rank,
  kernel.launch,
  (SELECT text FROM api_call JOIN string ON string.id = api_call.name
   WHERE api_call.id = kernel.launch) AS launch_name,
  (SELECT api_call.start_ns FROM api_call WHERE api_call.id = kernel.launch) AS launch_start_ns,
  (SELECT text FROM range JOIN string ON string.id = range.name
   WHERE range.id = kernel.op) AS op_name,
  grid_x, grid_y, grid_z, block_x, block_y, block_z, cluster_x, cluster_y, cluster_z,
  registers_per_thread, static_shared_bytes, dynamic_shared_bytes, local_bytes_per_thread,
  graph_node.graph_id, graph_node.node_id, correlation
FROM kernel
  LEFT JOIN string AS name ON name.id = kernel.name
  LEFT JOIN stream_named AS stream ON stream.id = kernel.stream
  LEFT JOIN launch_config ON launch_config.id = kernel.launch_config
  LEFT JOIN graph_node ON graph_node.id = kernel.graph_node;

CREATE VIEW copy_named AS
SELECT copy.id, name.text AS name, start_ns, end_ns, end_ns - start_ns AS duration_ns, bytes,
  CASE kind WHEN 0 THEN 'unknown' WHEN 1 THEN 'host_to_device' WHEN 2 THEN 'device_to_host'
    WHEN 3 THEN 'device_to_device' WHEN 4 THEN 'host_to_host' WHEN 5 THEN 'peer_to_peer'
    WHEN 6 THEN 'host_to_array' WHEN 7 THEN 'array_to_host' WHEN 8 THEN 'array_to_array'
    WHEN 9 THEN 'array_to_device' WHEN 10 THEN 'device_to_array' END AS kind,
  CASE source_memory WHEN 0 THEN 'unknown' WHEN 1 THEN 'pageable' WHEN 2 THEN 'pinned'
    WHEN 3 THEN 'device' WHEN 4 THEN 'array' WHEN 5 THEN 'managed'
    WHEN 6 THEN 'device_static' END AS source_memory,
  CASE target_memory WHEN 0 THEN 'unknown' WHEN 1 THEN 'pageable' WHEN 2 THEN 'pinned'
    WHEN 3 THEN 'device' WHEN 4 THEN 'array' WHEN 5 THEN 'managed'
    WHEN 6 THEN 'device_static' END AS target_memory,
  stream.device, stream.device_ordinal, stream.stream_id, stream.process_pid, stream.rank,
  copy.launch,
  (SELECT text FROM api_call JOIN string ON string.id = api_call.name
   WHERE api_call.id = copy.launch) AS launch_name,
  (SELECT api_call.start_ns FROM api_call WHERE api_call.id = copy.launch) AS launch_start_ns,
  (SELECT text FROM range JOIN string ON string.id = range.name
   WHERE range.id = copy.op) AS op_name,
  graph_node.graph_id, graph_node.node_id, correlation
FROM copy
  LEFT JOIN string AS name ON name.id = copy.name
  LEFT JOIN stream_named AS stream ON stream.id = copy.stream
  LEFT JOIN graph_node ON graph_node.id = copy.graph_node;

CREATE VIEW fill_named AS
SELECT fill.id, name.text AS name, start_ns, end_ns, end_ns - start_ns AS duration_ns, bytes,
  CASE memory WHEN 0 THEN 'unknown' WHEN 1 THEN 'pageable' WHEN 2 THEN 'pinned'
    WHEN 3 THEN 'device' WHEN 4 THEN 'array' WHEN 5 THEN 'managed'
    WHEN 6 THEN 'device_static' END AS memory,
  stream.device, stream.device_ordinal, stream.stream_id, stream.process_pid, stream.rank,
  fill.launch,
  (SELECT text FROM api_call JOIN string ON string.id = api_call.name
   WHERE api_call.id = fill.launch) AS launch_name,
  (SELECT api_call.start_ns FROM api_call WHERE api_call.id = fill.launch) AS launch_start_ns,
  (SELECT text FROM range JOIN string ON string.id = range.name
   WHERE range.id = fill.op) AS op_name,
  graph_node.graph_id, graph_node.node_id, correlation
FROM fill
  LEFT JOIN string AS name ON name.id = fill.name
  LEFT JOIN stream_named AS stream ON stream.id = fill.stream
  LEFT JOIN graph_node ON graph_node.id = fill.graph_node;

CREATE VIEW api_call_named AS
SELECT api_call.id, name.text AS name, start_ns, end_ns, end_ns - start_ns AS duration_ns,
  CASE kind WHEN 0 THEN 'runtime' WHEN 1 THEN 'driver' END AS kind,
  thread.tid, thread.name AS thread_name, thread.process_pid, thread.rank, correlation, result
FROM api_call
  LEFT JOIN string AS name ON name.id = api_call.name
  LEFT JOIN thread_named AS thread ON thread.id = api_call.thread;

CREATE VIEW range_named AS
SELECT range.id, name.text AS name, start_ns, end_ns, end_ns - start_ns AS duration_ns,
  CASE kind WHEN 0 THEN 'op' WHEN 1 THEN 'annotation' WHEN 2 THEN 'push_pop'
    WHEN 3 THEN 'start_end' WHEN 4 THEN 'python_function' END AS kind,
  domain.text AS domain, thread.tid, thread.name AS thread_name, thread.process_pid, thread.rank,
  external_id, category.text AS category, color
FROM range
  LEFT JOIN string AS category ON category.id = range.category
  LEFT JOIN string AS name ON name.id = range.name
  LEFT JOIN string AS domain ON domain.id = range.domain
  LEFT JOIN thread_named AS thread ON thread.id = range.thread;

CREATE VIEW sync_named AS
SELECT sync.id,
  CASE sync.kind WHEN 0 THEN 'unknown' WHEN 1 THEN 'stream' WHEN 2 THEN 'event'
    WHEN 3 THEN 'stream_wait_event' WHEN 4 THEN 'context' END AS kind,
  sync.start_ns, sync.end_ns, sync.end_ns - sync.start_ns AS duration_ns, sync.device,
  device.ordinal AS device_ordinal, stream.stream_id, event_stream.stream_id AS event_stream_id,
  call.name AS call_name, call.process_pid, record.name AS event_record_name,
  record.start_ns AS event_record_start_ns, sync.correlation, sync.event_id
FROM sync
  LEFT JOIN device ON device.id = sync.device
  LEFT JOIN stream ON stream.id = sync.stream
  LEFT JOIN stream AS event_stream ON event_stream.id = sync.event_stream
  LEFT JOIN api_call_named AS call ON call.id = sync.call
  LEFT JOIN api_call_named AS record ON record.id = sync.event_record;

CREATE VIEW cuda_event_named AS
SELECT cuda_event.id, event_id, time_ns, stream.device, stream.device_ordinal, stream.stream_id,
  call.name AS call_name, call.start_ns AS call_start_ns, stream.process_pid, stream.rank,
  cuda_event.correlation
FROM cuda_event
  LEFT JOIN stream_named AS stream ON stream.id = cuda_event.stream
  LEFT JOIN api_call_named AS call ON call.id = cuda_event.call;

CREATE VIEW overhead_named AS
SELECT overhead.id, kind.text AS kind, start_ns, end_ns, end_ns - start_ns AS duration_ns,
  thread.tid, process.pid AS process_pid, process.rank AS rank
FROM overhead
  LEFT JOIN string AS kind ON kind.id = overhead.kind
  LEFT JOIN thread ON thread.id = overhead.thread
  LEFT JOIN process ON process.id = overhead.process;

CREATE VIEW memory_event_named AS
SELECT memory_event.id, memory_event.time_ns, memory_event.bytes,
  CASE memory_event.memory WHEN 0 THEN 'unknown' WHEN 1 THEN 'pageable' WHEN 2 THEN 'pinned'
    WHEN 3 THEN 'device' WHEN 4 THEN 'array' WHEN 5 THEN 'managed'
    WHEN 6 THEN 'device_static' END AS memory,
  printf('0x%x', memory_event.address) AS address, memory_event.device,
  device.ordinal AS device_ordinal, stream.stream_id, thread.tid, thread.process_pid,
  memory_event.call, (SELECT text FROM api_call JOIN string ON string.id = api_call.name
   WHERE api_call.id = memory_event.call) AS call_name,
  CASE memory_event.pool WHEN 0 THEN NULL ELSE printf('0x%x', memory_event.pool) END AS pool,
  source.text AS source, total_allocated, total_reserved
FROM memory_event
  LEFT JOIN string AS source ON source.id = memory_event.source
  LEFT JOIN stream ON stream.id = memory_event.stream
  LEFT JOIN device ON device.id = memory_event.device
  LEFT JOIN thread_named AS thread ON thread.id = memory_event.thread;

CREATE VIEW memory_pool_event_named AS
SELECT event.id, time_ns, CASE operation WHEN 0 THEN 'unknown' WHEN 1 THEN 'created'
    WHEN 2 THEN 'destroyed' WHEN 3 THEN 'trimmed' END AS operation,
  printf('0x%x', pool) AS pool, bytes, used_bytes, release_threshold_bytes,
  device.ordinal AS device_ordinal, process.pid AS process_pid, process.rank AS rank
FROM memory_pool_event AS event
  LEFT JOIN device ON device.id = event.device
  LEFT JOIN process ON process.id = event.process;

CREATE VIEW migration_named AS
SELECT migration.id, start_ns, end_ns, end_ns - start_ns AS duration_ns,
  CASE kind WHEN 0 THEN 'unknown' WHEN 1 THEN 'host_to_device' WHEN 2 THEN 'device_to_host'
    WHEN 3 THEN 'device_to_device' WHEN 4 THEN 'cpu_fault' WHEN 5 THEN 'gpu_fault'
    WHEN 6 THEN 'thrashing' WHEN 7 THEN 'throttling' WHEN 8 THEN 'remote_map' END AS kind,
  value, printf('0x%x', address) AS address, source.ordinal AS source_ordinal,
  target.ordinal AS target_ordinal
FROM migration
  LEFT JOIN device AS source ON source.id = migration.source_device
  LEFT JOIN device AS target ON target.id = migration.target_device;

CREATE VIEW graph_launch_named AS
SELECT graph_launch.id, name.text AS name, start_ns, end_ns, end_ns - start_ns AS duration_ns,
  graph_id, stream.device, stream.device_ordinal, stream.stream_id, stream.process_pid,
  stream.rank, graph_launch.launch,
  (SELECT text FROM range JOIN string ON string.id = range.name
   WHERE range.id = graph_launch.op) AS op_name, correlation
FROM graph_launch
  LEFT JOIN string AS name ON name.id = graph_launch.name
  LEFT JOIN stream_named AS stream ON stream.id = graph_launch.stream;

CREATE VIEW range_payload_named AS
SELECT payload.id, payload.range, name.text AS range_name, range.start_ns, key.text AS key,
  value.text AS value
FROM range_payload AS payload
  LEFT JOIN range ON range.id = payload.range
  LEFT JOIN string AS name ON name.id = range.name
  LEFT JOIN string AS key ON key.id = payload.key
  LEFT JOIN string AS value ON value.id = payload.value;

CREATE VIEW gpu_sample_named AS
SELECT sample.id, time_ns, device.ordinal AS device_ordinal, device.uuid, sm_clock_mhz,
  memory_clock_mhz, power_mw, temperature_c, printf('0x%x', throttle_reasons) AS throttle_reasons,
  memory_used_bytes, busy_percent, foreign_processes
FROM gpu_sample AS sample
  LEFT JOIN device_named AS device ON device.id = sample.device;

CREATE VIEW thread_sample_named AS
SELECT sample.id, time_ns, thread.tid, thread.name AS thread_name, thread.process_pid, on_cpu_ns,
  runnable_ns, timeslices, last_cpu
FROM thread_sample AS sample
  LEFT JOIN thread_named AS thread ON thread.id = sample.thread;

CREATE VIEW counter_sample_named AS
SELECT sample.id, time_ns, name.text AS name, value, unit.text AS unit,
  device.ordinal AS device_ordinal, process.pid AS process_pid
FROM counter_sample AS sample
  LEFT JOIN counter_metric AS metric ON metric.id = sample.metric
  LEFT JOIN string AS name ON name.id = metric.name
  LEFT JOIN string AS unit ON unit.id = metric.unit
  LEFT JOIN device ON device.id = sample.device
  LEFT JOIN process ON process.id = sample.process;

CREATE VIEW window_named AS
SELECT window.id, start_ns, end_ns, end_ns - start_ns AS duration_ns, reason.text AS reason,
  process.pid AS process_pid, process.rank AS rank
FROM window
  LEFT JOIN string AS reason ON reason.id = window.reason
  LEFT JOIN process ON process.id = window.process;

CREATE VIEW capture_event_named AS
SELECT event.id, time_ns, kind.text AS kind, detail.text AS detail, value,
  process.pid AS process_pid, process.rank AS rank
FROM capture_event AS event
  LEFT JOIN string AS kind ON kind.id = event.kind
  LEFT JOIN string AS detail ON detail.id = event.detail
  LEFT JOIN process ON process.id = event.process;

CREATE VIEW stack_frame_named AS
SELECT frame.id, frame.parent, function.text AS function, module.text AS module, frame.offset
FROM stack_frame AS frame
  LEFT JOIN string AS function ON function.id = frame.function
  LEFT JOIN string AS module ON module.id = frame.module;

CREATE VIEW call_stack_named AS
SELECT stack.id, stack.call, (SELECT text FROM api_call JOIN string ON string.id = api_call.name
   WHERE api_call.id = stack.call) AS call_name, stack.graph_node, stack.frame,
  frame.function, frame.module
FROM call_stack AS stack
  LEFT JOIN stack_frame_named AS frame ON frame.id = stack.frame;

CREATE VIEW module_named AS
SELECT module.id, path.text AS path, build_id.text AS build_id, printf('0x%x', base) AS base,
  module.bytes, process.pid AS process_pid
FROM module
  LEFT JOIN string AS path ON path.id = module.path
  LEFT JOIN string AS build_id ON build_id.id = module.build_id
  LEFT JOIN process ON process.id = module.process;

CREATE VIEW collective_named AS
SELECT collective.id, collective.kernel, kernel.name AS kernel_name, kernel.start_ns,
  kernel.end_ns, kernel.duration_ns, kernel.device, kernel.device_ordinal, kernel.stream_id,
  COALESCE(kernel.process_pid, call.process_pid) AS process_pid,
  COALESCE(kernel.rank, call.rank) AS rank, communicator.text AS communicator,
  operation.text AS operation, dtype.text AS dtype, elements_in, elements_out, bytes,
  collective.range, group_size, ranks.text AS ranks
FROM collective
  LEFT JOIN kernel_named AS kernel ON kernel.id = collective.kernel
  LEFT JOIN range_named AS call ON call.id = collective.range
  LEFT JOIN string AS communicator ON communicator.id = collective.communicator
  LEFT JOIN string AS operation ON operation.id = collective.operation
  LEFT JOIN string AS dtype ON dtype.id = collective.dtype
  LEFT JOIN string AS ranks ON ranks.id = collective.ranks;

CREATE VIEW quality_named AS
SELECT quality.id, code.text AS code, count, detail.text AS detail, process.pid AS process_pid,
  process.rank AS rank
FROM quality
  LEFT JOIN string AS code ON code.id = quality.code
  LEFT JOIN string AS detail ON detail.id = quality.detail
  LEFT JOIN process ON process.id = quality.process;
)sql";

}  // namespace gprofml::profile
