#include "libprofile/import/kineto_event.hpp"

namespace gprofml::profile {

KinetoArg kineto_arg(std::string_view key) {
  struct Named {
    std::string_view key;
    KinetoArg arg;
  };
  static constexpr Named kNamed[] = {
      {"name", KinetoArg::name},
      {"kind", KinetoArg::kind},
      {"grid", KinetoArg::grid},
      {"Addr", KinetoArg::address},
      {"bytes", KinetoArg::bytes},
      {"Bytes", KinetoArg::bytes},
      {"block", KinetoArg::block},
      {"dtype", KinetoArg::dtype},
      {"device", KinetoArg::device},
      {"stream", KinetoArg::stream},
      {"context", KinetoArg::context},
      {"graph id", KinetoArg::graph_id},
      {"Device Id", KinetoArg::device_id},
      {"Group size", KinetoArg::group_size},
      {"External id", KinetoArg::external_id},
      {"external id", KinetoArg::external_id},
      {"correlation", KinetoArg::correlation},
      {"Device Type", KinetoArg::device_type},
      {"In msg nelems", KinetoArg::elements_in},
      {"graph node id", KinetoArg::graph_node_id},
      {"shared memory", KinetoArg::shared_memory},
      {"Out msg nelems", KinetoArg::elements_out},
      {"cuda_sync_kind", KinetoArg::sync_kind},
      {"wait_on_stream", KinetoArg::wait_stream},
      {"Total Reserved", KinetoArg::total_reserved},
      {"Total Allocated", KinetoArg::total_allocated},
      {"Collective name", KinetoArg::collective},
      {"Process Group Name", KinetoArg::group_name},
      {"Process Group Ranks", KinetoArg::group_ranks},
      {"registers per thread", KinetoArg::registers},
      {"wait_on_cuda_event_id", KinetoArg::wait_event},
      {"wait_on_cuda_event_record_corr_id", KinetoArg::wait_record},
  };
  // Ordered by length: `first_of_length[n]` is where those of n characters begin.
  static constexpr auto kFirstOfLength = [] {
    std::array<unsigned char, 35> first{};
    for (std::size_t length = 0; length < first.size(); ++length)
      for (const Named& named : kNamed)
        if (named.key.size() < length) ++first[length];
    return first;
  }();
  if (key.size() + 1 >= kFirstOfLength.size()) return KinetoArg::count;
  for (std::size_t i = kFirstOfLength[key.size()]; i < kFirstOfLength[key.size() + 1]; ++i)
    if (kNamed[i].key == key) return kNamed[i].arg;
  return KinetoArg::count;
}

}  // namespace gprofml::profile
