// Emits what NCCL emits (domain, schemas, payloads, names of kernels), around kernels that are
// launched where NCCL launches its own: what test_nvtx_full.py expects as collectives is planted
// here, with the bytes telling the calls apart.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

extern "C" {
__global__ void ncclDevKernel_AllReduce_Sum_f32_RING_LL(int* data) { *data = 1; }
__global__ void ncclDevKernel_Broadcast_RING_LL(int* data) { *data = 2; }
__global__ void ncclDevKernel_SendRecv(int* data) { *data = 3; }
__global__ void prepare(int* data) { *data = 4; }
}

namespace {

constexpr std::uint64_t kCommunicator = 0xabcdef0123456789;
constexpr std::uint64_t kOther = 0x77;
constexpr std::uint64_t kCallSchema = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 4;
constexpr std::uint64_t kInitSchema = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 9;

nvtxDomainHandle_t domain;
int* data;
cudaStream_t stream;

void register_schema(std::uint64_t id, const nvtxPayloadSchemaEntry_t* entries, std::size_t count,
                     std::size_t bytes) {
  nvtxPayloadSchemaAttr_t attributes{};
  attributes.fieldMask =
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.entries = entries;
  attributes.numEntries = count;
  attributes.payloadStaticSize = bytes;
  attributes.schemaId = id;
  nvtxPayloadSchemaRegister(domain, &attributes);
}

nvtxEventAttributes_t named(const char* name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, name);
  return attributes;
}

struct Call {
  std::uint64_t communicator;
  std::size_t bytes;
};

/// A range of NCCL's, and in it what `inside` does.
template <class Inside>
void call(const char* name, Call what, Inside inside) {
  nvtxEventAttributes_t attributes = named(name);
  nvtxPayloadData_t payload{kCallSchema, sizeof what, &what};
  attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = 1;
  attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(&payload);
  nvtxDomainRangePushEx(domain, &attributes);
  inside();
  nvtxDomainRangePop(domain);
}

template <class Inside>
void plain(const char* name, Inside inside) {
  const nvtxEventAttributes_t attributes = named(name);
  nvtxDomainRangePushEx(domain, &attributes);
  inside();
  nvtxDomainRangePop(domain);
}

void nothing() {}
void all_reduce() { ncclDevKernel_AllReduce_Sum_f32_RING_LL<<<1, 32, 0, stream>>>(data); }
void broadcast() { ncclDevKernel_Broadcast_RING_LL<<<1, 32, 0, stream>>>(data); }

void make_communicator() {
  struct {
    std::uint64_t communicator;
    int ranks, rank, device;
  } made{kCommunicator, 8, 3, 0};
  const nvtxEventAttributes_t attributes = named("ncclCommInitRank");
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxPayloadData_t payload{kInitSchema, sizeof made, &made};
  nvtxRangePopPayload(domain, &payload, 1);
}

void groups() {
  // One kernel for all.
  plain("ncclGroupStart", nothing);
  call("ncclSend", {kCommunicator, 100}, nothing);
  call("ncclRecv", {kCommunicator, 200}, nothing);
  plain("ncclGroupEnd", [] { ncclDevKernel_SendRecv<<<1, 32, 0, stream>>>(data); });
  // Each its own.
  plain("ncclGroupStart", nothing);
  call("ncclAllReduce", {kCommunicator, 300}, nothing);
  call("ncclBroadcast", {kCommunicator, 400}, nothing);
  plain("ncclGroupEnd", [] {
    broadcast();
    all_reduce();
  });
  // Two alike: nobody can tell which is whose.
  plain("ncclGroupStart", nothing);
  call("ncclAllReduce", {kCommunicator, 500}, nothing);
  call("ncclAllReduce", {kOther, 600}, nothing);
  plain("ncclGroupEnd", [] {
    all_reduce();
    all_reduce();
  });
}

void captured() {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  nvtxRangePushA("step");
  prepare<<<1, 32, 0, stream>>>(data);
  call("ncclAllReduce", {kCommunicator, 700}, all_reduce);
  nvtxRangePop();
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  for (int replay = 0; replay < 3; ++replay) cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
}

}  // namespace

int main() {
  domain = nvtxDomainCreateA("NCCL");
  nvtxPayloadSchemaEntry_t of_call[2] = {};
  of_call[0].type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
  of_call[0].name = "NCCL communicator ID";
  of_call[1].type = NVTX_PAYLOAD_ENTRY_TYPE_SIZE;
  of_call[1].name = "Message size [bytes]";
  of_call[1].offset = 8;
  register_schema(kCallSchema, of_call, 2, sizeof(Call));
  nvtxPayloadSchemaEntry_t of_init[4] = {};
  of_init[0] = of_call[0];
  const char* names[] = {"No. of ranks", "Rank", "CUDA device"};
  for (int at = 0; at < 3; ++at) {
    of_init[at + 1].type = NVTX_PAYLOAD_ENTRY_TYPE_INT;
    of_init[at + 1].name = names[at];
    of_init[at + 1].offset = 8 + 4 * static_cast<std::uint64_t>(at);
  }
  register_schema(kInitSchema, of_init, 4, 24);
  if (cudaMalloc(&data, 64) != cudaSuccess || cudaStreamCreate(&stream) != cudaSuccess) return 1;
  make_communicator();
  call("ncclAllReduce", {kCommunicator, 4096}, [] {
    prepare<<<1, 32, 0, stream>>>(data);
    all_reduce();
  });
  all_reduce();  // of no call
  call("ncclBroadcast", {kOther, 50}, nothing);
  groups();
  captured();
  cudaDeviceSynchronize();
  std::puts("done");
  return 0;
}
