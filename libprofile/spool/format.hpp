// The spool: what the injection library writes while the program runs, one append-only file a
// process. The only header that the recorder and the reader share: plain structs, no library.
//
//   FileHeader                                            once
//   ChunkHeader  record record record ...                 a batch, checksummed, written by one
//   write ChunkHeader  record record ...
//
// A record is a RecordHeader and what follows it, a multiple of 8 bytes long. A reader skips record
// kinds it does not know and ignores what a longer record of a newer writer holds behind the fields
// it knows. There is no footer and no index: a file cut at any byte reads up to its last whole
// chunk, and `End` only says that the process ended in an orderly way.
//
// Dictionaries (String, LaunchConfig, Thread, Domain, Place, Module, Stack) are records too and
// always stand before the first record that uses them, in the same chunk or an earlier one. String
// 0 is the empty string and never written.
//
// Times are nanoseconds on CUPTI's clock (CLOCK_REALTIME until CUPTI is loaded, which is the same
// on a real system). Numbers of CUPTI's enumerations are stored as CUPTI gives them: the reader
// translates, so that the part inside the program stays small.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gprofml::spool {

inline constexpr char kMagic[8] = {'G', 'P', 'R', 'F', 'S', 'P', 'O', 'L'};
inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::uint32_t kByteOrder = 0x01020304;   ///< as the writer's machine stores it
inline constexpr std::uint32_t kChunkMagic = 0x4b4e4843;  ///< "CHNK"

/// No chunk is longer than this; a reader refuses more without allocating.
inline constexpr std::uint32_t kLargestChunkBytes = 16u << 20;

/// "Does not apply" in fields that hold ids (stream, event, context, device).
inline constexpr std::uint32_t kNoId = 0xffffffffu;

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t byte_order;
  std::int64_t start_ns;  ///< CLOCK_REALTIME when the file was opened
  std::uint64_t nonce;    ///< random; also in the file's name
  std::uint32_t pid;
  std::uint32_t crc;  ///< CRC-32C of the bytes before it
};
static_assert(sizeof(FileHeader) == 40);

struct ChunkHeader {
  std::uint32_t magic;
  std::uint32_t payload_bytes;
  std::uint64_t sequence;     ///< 0, 1, 2, … without holes
  std::int64_t written_ns;    ///< CLOCK_REALTIME when the chunk was handed to write()
  std::uint32_t payload_crc;  ///< CRC-32C of the payload
  std::uint32_t header_crc;   ///< CRC-32C of the header's bytes before it
};
static_assert(sizeof(ChunkHeader) == 32);

enum class RecordKind : std::uint16_t {
  fact = 1,  // dictionaries and facts
  string = 2,
  launch_config = 3,
  thread = 4,
  domain = 5,
  note = 6,
  status = 7,
  end = 8,
  category = 9,
  payload_schema = 10,
  counter = 11,
  module = 12,  // level 3: names for call stacks
  stack = 13,
  device = 16,  // where work runs
  context = 17,
  stream = 18,
  place = 19,
  kernel = 32,  // what happened
  copy = 33,
  fill = 34,
  api_call = 35,
  sync = 36,
  cuda_event = 37,
  overhead = 38,
  graph_node = 39,
  graph_edge = 40,
  short_kernel = 41,
  range_push = 48,
  range_pop = 49,
  range_start = 50,
  range_end = 51,
  mark = 52,
  memory_event = 53,  // levels 2 and 3; graphs as a whole
  memory_pool = 54,
  unified_memory = 55,
  graph_launch = 56,
  payload = 57,
  counter_sample = 58,
  call_stack = 59,  // level 3
  window = 60,      // what the recorder did
  capture_event = 61,
  cost = 62,
  segment = 63,  // which part of a recording of which only the last is kept
};

struct RecordHeader {
  RecordKind kind;
  std::uint16_t reserved;
  std::uint32_t bytes;  ///< whole record with this header, a multiple of 8
};
static_assert(sizeof(RecordHeader) == 8);

// --- dictionaries and facts ------------------------------------------------------------------

/// A key and its value, UTF-8, without terminators, behind the struct; padded with zeros. Keys:
/// host, pid, parent_pid, executable, command (arguments separated by NUL), working_folder,
/// library_version, cupti_path, cupti_version, driver_version, level, recorded_kinds (groups by
/// commas), simulated (1), cuda ("recorded", or why not), nvtx ("recorded", or why not), env.NAME
/// (environment_names.hpp). A key said again replaces the earlier.
struct Fact {
  RecordHeader header;
  std::uint32_t key_bytes;
  std::uint32_t value_bytes;
};
static_assert(sizeof(Fact) == 16);

/// A name; its bytes follow, padded with zeros.
struct String {
  RecordHeader header;
  std::uint32_t id;
  std::uint32_t text_bytes;
};
static_assert(sizeof(String) == 16);

struct LaunchConfig {
  RecordHeader header;
  std::uint32_t id;
  std::int32_t grid[3];
  std::int32_t block[3];
  std::int32_t cluster[3];  ///< 0: not launched with clusters
  std::int32_t registers_per_thread;
  std::int32_t static_shared_bytes;
  std::int32_t dynamic_shared_bytes;
  std::uint32_t local_bytes_per_thread;
};
static_assert(sizeof(LaunchConfig) == 64);

struct Thread {
  RecordHeader header;
  std::uint32_t tid;   ///< gettid()
  std::uint32_t name;  ///< String
};
static_assert(sizeof(Thread) == 16);

/// An NVTX domain. Domain 0 is the default one and never written.
struct Domain {
  RecordHeader header;
  std::uint32_t id;
  std::uint32_t name;  ///< String
};
static_assert(sizeof(Domain) == 16);

/// The name of an NVTX category; the last one said holds.
struct Category {
  RecordHeader header;
  std::uint32_t domain;
  std::uint32_t id;
  std::uint32_t name;  ///< String
  std::uint32_t reserved;
};
static_assert(sizeof(Category) == 24);

/// How the bytes of an NVTX payload are to be read; as many PayloadEntry follow. Types and flags
/// are nvToolsExtPayload.h's. Ids below 2^32 are the program's own, unique in their domain; the
/// others are the recorder's. What the program says here may be nonsense.
struct PayloadSchema {
  RecordHeader header;
  std::uint64_t id;
  std::uint64_t static_bytes;  ///< of a static schema, of an enumeration's value; 0: not said
  std::uint64_t flags;
  std::uint32_t domain;
  std::uint32_t name;  ///< String
  std::uint32_t type;  ///< NVTX_PAYLOAD_SCHEMA_TYPE_*, kEnumeration
  std::uint32_t pack_align;
  std::uint32_t entries;
  std::uint32_t reserved;
};
static_assert(sizeof(PayloadSchema) == 56);

/// PayloadSchema::type of an enumeration: each entry's `type` is a value, its `flags` 1 when the
/// value is bits of a set. The registered strings of a domain are one such enumeration, told piece
/// by piece, of the id kRegisteredStrings: each value is a handle.
inline constexpr std::uint32_t kEnumeration = 100;
inline constexpr std::uint64_t kRegisteredStrings = 80;

struct PayloadEntry {
  std::uint64_t flags;
  std::uint64_t type;
  std::uint64_t detail;  ///< nvtxPayloadSchemaEntry_t::arrayOrUnionDetail
  std::uint64_t offset;
  std::uint32_t name;         ///< String
  std::uint32_t description;  ///< String
  std::uint32_t unit;         ///< String, of a counter
  std::uint32_t reserved;
};
static_assert(sizeof(PayloadEntry) == 48);

/// An NVTX counter, or a group of them.
struct Counter {
  RecordHeader header;
  std::uint64_t id;      ///< as ids of schemas
  std::uint64_t schema;  ///< layout of a sample
  std::uint64_t flags;   ///< NVTX_COUNTER_FLAG_*
  std::uint32_t domain;
  std::uint32_t name;         ///< String
  std::uint32_t description;  ///< String
  std::uint32_t unit;         ///< String
};
static_assert(sizeof(Counter) == 48);

/// Something a reader should know about the recording. `code` is stable, snake_case.
struct Note {
  RecordHeader header;
  std::uint32_t code;    ///< String
  std::uint32_t detail;  ///< String, a sentence
  std::uint64_t count;
};
static_assert(sizeof(Note) == 24);

/// Written every few hundred milliseconds and at the end; totals since the start.
struct Status {
  RecordHeader header;
  std::int64_t realtime_ns;  ///< one moment on three clocks
  std::int64_t monotonic_ns;
  std::int64_t cupti_ns;             ///< 0: no CUPTI
  std::uint64_t cupti_dropped;       ///< records CUPTI says it dropped
  std::uint64_t discarded;           ///< records discarded because no buffer was free
  std::uint64_t ranges_lost;         ///< NVTX events discarded because a thread's ring was full
  std::uint64_t unknown_records;     ///< CUPTI records of kinds this library does not know
  std::uint64_t incomplete_records;  ///< CUPTI records handed over unfinished
  std::uint64_t writer_cpu_ns;       ///< CPU time of the writer thread
};
static_assert(sizeof(Status) == 80);

/// What recording has cost since the recorder began. Written twice a second and at the end.
struct Cost {
  RecordHeader header;
  std::int64_t time_ns;          ///< CLOCK_REALTIME
  std::uint64_t wall_ns;         ///< since the recorder's start
  std::uint64_t callback_ns;     ///< on the program's threads, by sampling
  std::uint64_t writer_cpu_ns;   ///< CPU time of the thread that writes
  std::uint64_t flusher_cpu_ns;  ///< of the thread that flushes
  std::uint64_t cupti_ns;        ///< CUPTI's overhead records, summed up
};
static_assert(sizeof(Cost) == 56);

enum class EndReason : std::uint32_t { exit_handler = 1, stopped = 2, write_failed = 3 };

struct End {
  RecordHeader header;
  std::int64_t time_ns;
  EndReason reason;
  std::uint32_t reserved;
};
static_assert(sizeof(End) == 24);

// --- where work runs -------------------------------------------------------------------------

struct Device {
  RecordHeader header;
  std::uint32_t id;    ///< CUDA ordinal in this process
  std::uint32_t name;  ///< String
  std::uint8_t uuid[16];
  std::uint8_t mig_uuid[16];  ///< zeros: no MIG instance
  std::uint64_t memory_bytes;
  std::uint32_t multiprocessors;
  std::uint32_t compute_major;
  std::uint32_t compute_minor;
  std::uint32_t reserved;
};
static_assert(sizeof(Device) == 72);

struct Context {
  RecordHeader header;
  std::uint32_t id;
  std::uint32_t device;
  std::uint32_t null_stream;
  std::uint32_t reserved;
};
static_assert(sizeof(Context) == 24);

struct Stream {
  RecordHeader header;
  std::uint32_t context;
  std::uint32_t id;
  std::int32_t priority;
  std::uint32_t flag;  ///< CUpti_ActivityStreamFlag
  std::uint32_t correlation;
  std::uint32_t reserved;
};
static_assert(sizeof(Stream) == 32);

/// Where kernels run, once for each combination, so that each kernel need not say it.
struct Place {
  RecordHeader header;
  std::uint32_t id;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
};
static_assert(sizeof(Place) == 24);

// --- what happened ---------------------------------------------------------------------------

/// A kernel as most are: of these records a recording mostly consists, so they are kept short.
struct ShortKernel {
  RecordHeader header;
  std::int64_t start_ns;
  std::uint64_t graph_node;  ///< 0: not launched by a graph
  std::uint32_t duration_ns;
  std::uint32_t graph;
  std::uint32_t name;   ///< String, as the compiler mangled it
  std::uint32_t place;  ///< Place
  std::uint32_t correlation;
  std::uint32_t launch_config;  ///< LaunchConfig, kNoId: none
};
static_assert(sizeof(ShortKernel) == 48);

/// A kernel that took longer than a ShortKernel can say, or whose times make no sense.
struct Kernel {
  RecordHeader header;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint64_t graph_node;  ///< 0: not launched by a graph
  std::uint32_t graph;
  std::uint32_t name;  ///< String, as the compiler mangled it
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t launch_config;  ///< LaunchConfig, kNoId: none
  std::uint32_t reserved;
};
static_assert(sizeof(Kernel) == 64);

struct Copy {
  RecordHeader header;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint64_t bytes;
  std::uint64_t graph_node;
  std::uint32_t graph;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t source_device;  ///< peer copies; else kNoId
  std::uint32_t target_device;
  std::uint8_t copy_kind;      ///< CUpti_ActivityMemcpyKind
  std::uint8_t source_memory;  ///< CUpti_ActivityMemoryKind
  std::uint8_t target_memory;
  std::uint8_t flags;  ///< CUpti_ActivityFlag: 1 asynchronous
};
static_assert(sizeof(Copy) == 72);

struct Fill {
  RecordHeader header;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint64_t bytes;
  std::uint64_t graph_node;
  std::uint32_t graph;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t value;
  std::uint8_t memory;  ///< CUpti_ActivityMemoryKind
  std::uint8_t flags;
  std::uint8_t reserved[6];
};
static_assert(sizeof(Fill) == 72);

struct ApiCall {
  RecordHeader header;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t correlation;
  std::uint32_t name;  ///< String, from cuptiGetCallbackName
  std::uint32_t tid;
  std::uint32_t return_value;
  std::uint32_t domain;  ///< 0 runtime, 1 driver
  std::uint32_t callback_id;
};
static_assert(sizeof(ApiCall) == 48);

struct Sync {
  RecordHeader header;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint64_t event_sync;  ///< joins with CudaEvent::event_sync; ~0: none
  std::uint32_t type;        ///< CUpti_ActivitySynchronizationType
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;  ///< kNoId: none
  std::uint32_t event;   ///< kNoId: none
  std::uint32_t return_value;
};
static_assert(sizeof(Sync) == 56);

struct CudaEvent {
  RecordHeader header;
  std::uint64_t event_sync;     ///< ~0: not known (CUPTI before 12.8)
  std::int64_t device_time_ns;  ///< 0: not recorded
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t event;
};
static_assert(sizeof(CudaEvent) == 40);

struct Overhead {
  RecordHeader header;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t kind;  ///< CUpti_ActivityOverheadKind
  std::uint32_t tid;   ///< 0: not one thread's
  std::uint32_t correlation;
  std::uint32_t reserved;
};
static_assert(sizeof(Overhead) == 40);

/// A node came into being in a graph: by capture or by hand (`original_node` 0), or as the copy of
/// another when a graph was cloned or instantiated. Thread and time say which range was open.
struct GraphNode {
  RecordHeader header;
  std::int64_t time_ns;
  std::uint64_t node;
  std::uint64_t original_node;
  std::uint32_t graph;
  std::uint32_t original_graph;
  std::uint32_t type;  ///< CUgraphNodeType
  std::uint32_t tid;
};
static_assert(sizeof(GraphNode) == 48);

/// An edge between nodes of a graph came into being, or is taken away.
struct GraphEdge {
  RecordHeader header;
  std::int64_t time_ns;
  std::uint64_t source;  ///< node
  std::uint64_t target;  ///< node that runs after it
  std::uint32_t is_removed;
  std::uint32_t reserved;
};
static_assert(sizeof(GraphEdge) == 40);

/// Memory given out or taken back.
struct MemoryEvent {
  RecordHeader header;
  std::int64_t time_ns;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t pool;       ///< its address; 0: not from a pool
  std::uint64_t pool_size;  ///< bytes it holds
  std::uint64_t pool_used;  ///< bytes of them given out; ~0: not known
  std::uint32_t operation;  ///< CUpti_ActivityMemoryOperationType
  std::uint32_t memory;     ///< CUpti_ActivityMemoryKind
  std::uint32_t correlation;
  std::uint32_t device;
  std::uint32_t context;  ///< kNoId: none
  std::uint32_t stream;   ///< in whose order it happens; kNoId: at once
  std::uint32_t source;   ///< String, the library that asked for it; 0: not known
  std::uint32_t reserved;
};
static_assert(sizeof(MemoryEvent) == 88);

/// A pool of memory made, ended, trimmed.
struct MemoryPool {
  RecordHeader header;
  std::int64_t time_ns;
  std::uint64_t pool;  ///< its address
  std::uint64_t size;  ///< bytes it holds
  std::uint64_t used;  ///< bytes of them given out; ~0: not known
  std::uint64_t release_threshold;
  std::uint32_t operation;  ///< CUpti_ActivityMemoryPoolOperationType
  std::uint32_t device;
  std::uint32_t correlation;
  std::uint32_t reserved;
};
static_assert(sizeof(MemoryPool) == 64);

/// Managed memory that moved, or that somebody waited for.
struct UnifiedMemory {
  RecordHeader header;
  std::int64_t start_ns;
  std::int64_t end_ns;  ///< 0: the counter has no end
  std::uint64_t address;
  std::uint64_t value;          ///< what the counter counts
  std::uint32_t counter;        ///< CUpti_ActivityUnifiedMemoryCounterKind
  std::uint32_t source_device;  ///< kNoId: the host
  std::uint32_t target_device;
  std::uint32_t flags;  ///< CUpti_ActivityUnifiedMemory…, as the counter says
};
static_assert(sizeof(UnifiedMemory) == 56);

/// A CUDA graph, from its first node's start to its last one's end.
struct GraphLaunch {
  RecordHeader header;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t graph;  ///< the executable graph
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t reserved;
};
static_assert(sizeof(GraphLaunch) == 48);

/// Stands behind a RangePush, Mark or RangeStart that has a colour.
struct RangeColor {
  std::uint32_t argb;
  std::uint32_t reserved;
};
static_assert(sizeof(RangeColor) == 8);

/// nvtxRangePush and nvtxMark. A thread's pushes and pops of one domain nest.
struct RangePush {
  RecordHeader header;
  std::int64_t time_ns;
  std::uint32_t tid;
  std::uint32_t domain;  ///< Domain, 0: the default one
  std::uint32_t name;    ///< String
  std::uint32_t category;
};
static_assert(sizeof(RangePush) == 32);
using Mark = RangePush;

struct RangePop {
  RecordHeader header;
  std::int64_t time_ns;
  std::uint32_t tid;
  std::uint32_t domain;
};
static_assert(sizeof(RangePop) == 24);

/// nvtxRangeStart and nvtxRangeEnd: joined by `id`, on any thread.
struct RangeStart {
  RecordHeader header;
  std::int64_t time_ns;
  std::uint64_t id;
  std::uint32_t tid;
  std::uint32_t domain;
  std::uint32_t name;
  std::uint32_t category;
};
static_assert(sizeof(RangeStart) == 40);

struct RangeEnd {
  RecordHeader header;
  std::int64_t time_ns;
  std::uint64_t id;
  std::uint32_t tid;
  std::uint32_t domain;
};
static_assert(sizeof(RangeEnd) == 32);

// --- call stacks (level 3) -------------------------------------------------------------------

/// A part of a file that is mapped executable, or code made at run time (`path` 0). Stands before
/// the first Stack with an address in it. One that overlaps earlier ones has taken their place.
struct Module {
  RecordHeader header;
  std::uint64_t start;  ///< address
  std::uint64_t bytes;
  std::uint64_t file_offset;  ///< of what is mapped at `start`
  std::uint64_t file_bytes;   ///< of the whole file, 0: it could not be looked at
  std::int64_t modified_ns;   ///< the file's, CLOCK_REALTIME
  std::uint32_t path;         ///< String
  std::uint32_t build_id_bytes;
  std::uint8_t build_id[32];
};
static_assert(sizeof(Module) == 88);

/// Where a thread was in its program, as much of it as unwinding needs: registers and words of its
/// stack. Only addresses of code and addresses within the stack itself are kept, all else reads as
/// zero: what the program computes does not get into a recording, and equal ways through the
/// program are equal here, whatever they worked on and on whatever thread.
struct Stack {
  /// Addresses within the stack are written as this and their distance from the stack pointer.
  static constexpr std::uint64_t kBase = std::uint64_t{1} << 56;

  enum Flag : std::uint32_t {
    kElsewhere = 1,   ///< not on the stack of the thread: coroutines, signal stacks
    kUnreadable = 2,  ///< the stack could not be read: registers alone
  };
  /// x86-64's rip, rsp (always kBase), rbp, rbx, r12, r13, r14, r15.
  static constexpr std::uint32_t kRegisters = 8;

  RecordHeader header;
  std::uint32_t id;
  std::uint32_t copied_bytes;  ///< from the stack pointer on: there, what is not kept is zero
  std::uint32_t words;         ///< StackWord, that follow
  std::uint32_t flags;
  std::uint64_t registers[kRegisters];
};
static_assert(sizeof(Stack) == 88);

/// Behind the copied part they are the frame records that the chain of frame pointers led to.
struct StackWord {
  std::uint64_t offset;  ///< from the stack pointer
  std::uint64_t value;   ///< an address of code, or kBase + n
};
static_assert(sizeof(StackWord) == 16);

/// Where a call, or the node of a graph when it came into being, was made.
struct CallStack {
  RecordHeader header;
  std::uint64_t graph_node;   ///< 0: of a call
  std::uint32_t correlation;  ///< of the call
  std::uint32_t stack;        ///< Stack
};
static_assert(sizeof(CallStack) == 24);

enum class PayloadOf : std::uint32_t {
  open_push = 1,  ///< the innermost open push of thread and domain
  last_mark = 2,  ///< the mark before this record
  started = 3,    ///< the range with this id, started before or after
};

/// One NVTX payload of a range or mark. The bytes follow, padded with zeros.
struct Payload {
  RecordHeader header;
  std::uint64_t schema;  ///< PayloadSchema, or NVTX_PAYLOAD_ENTRY_TYPE_*
  std::uint64_t range;   ///< RangeStart::id
  PayloadOf of;
  std::uint32_t tid;
  std::uint32_t domain;
  std::uint32_t data_bytes;   ///< that follow
  std::uint32_t whole_bytes;  ///< that there were
  std::uint32_t reserved;
};
static_assert(sizeof(Payload) == 48);

enum class SampleForm : std::uint32_t {
  int64 = 1,     ///< `value` is one
  float64 = 2,   ///< `value` has the bits of one
  bytes = 3,     ///< the bytes follow, in the layout of the counter's schema
  no_value = 4,  ///< `value` is NVTX_COUNTER_SAMPLE_*
};

struct CounterSample {
  RecordHeader header;
  std::int64_t time_ns;
  std::uint64_t counter;
  std::uint64_t value;
  SampleForm form;
  std::uint32_t tid;
  std::uint32_t domain;
  std::uint32_t data_bytes;  ///< that follow, padded with zeros
};
static_assert(sizeof(CounterSample) == 48);

// --- what the recorder did -------------------------------------------------------------------

enum class WindowState : std::uint32_t {
  open = 0,
  closed = 1,   ///< it has its end; work that was launched in it may still come
  complete = 2  ///< all that belongs to it stands before this record
};

/// An interval that is recorded. Said again, with the same index, as its state changes.
struct Window {
  RecordHeader header;
  std::int64_t start_ns;  ///< 0: the recording's beginning
  std::int64_t end_ns;    ///< while open 0
  std::uint32_t index;    ///< from 0 in each process
  std::uint32_t reason;   ///< String, what opened it
  WindowState state;
  std::uint32_t reserved;
};
static_assert(sizeof(Window) == 40);

/// What the recorder did to itself. `kind` is stable, snake_case: "windowed" (at the start: only
/// what is in windows is recorded), "window_cut" (value: how many buffers had not come back when a
/// window was settled).
struct CaptureEvent {
  RecordHeader header;
  std::int64_t time_ns;
  std::int64_t value;
  std::uint32_t kind;    ///< String
  std::uint32_t detail;  ///< String, a sentence
};
static_assert(sizeof(CaptureEvent) == 32);

enum class SegmentPart : std::uint32_t {
  begins = 1,  ///< what follows repeats the ranges that are open: a reader of the segment before
               ///< knows them
  goes_on = 2  ///< what follows is new
};

/// Stands twice at the beginning of each segment: a file `SPOOL.%08x.segment` beside a spool, with
/// the spool's FileHeader (`nonce`), in which everything stands that happened in an interval, while
/// the spool has what lasts (is_lasting). A chunk of it is written after all that it needs of the
/// spool. Older segments are deleted as the recording goes on.
struct Segment {
  RecordHeader header;
  std::int64_t time_ns;
  std::uint32_t index;  ///< from 0; also in the file's name
  SegmentPart part;
};
static_assert(sizeof(Segment) == 24);

/// Whether records of a kind are needed however long ago they were written. So
/// are ranges in which nodes of graphs came into being, which stand in the spool too once they have
/// ended, and the CallStack of a node, which stands only there.
constexpr bool is_lasting(RecordKind kind) {
  switch (kind) {
    case RecordKind::status:
    case RecordKind::cost:
    case RecordKind::kernel:
    case RecordKind::short_kernel:
    case RecordKind::copy:
    case RecordKind::fill:
    case RecordKind::api_call:
    case RecordKind::sync:
    case RecordKind::cuda_event:
    case RecordKind::overhead:
    case RecordKind::range_push:
    case RecordKind::range_pop:
    case RecordKind::range_start:
    case RecordKind::range_end:
    case RecordKind::mark:
    case RecordKind::memory_event:
    case RecordKind::memory_pool:
    case RecordKind::unified_memory:
    case RecordKind::graph_launch:
    case RecordKind::payload:
    case RecordKind::counter_sample:
    case RecordKind::call_stack:
    case RecordKind::segment:
      return false;
    default:
      return true;
  }
}

}  // namespace gprofml::spool
