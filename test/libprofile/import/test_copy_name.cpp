#include <catch2/catch.hpp>

#include "libprofile/import/copy_name.hpp"

using namespace gprofml::profile;

TEST_CASE("names of copies and fills as the tools write them") {
  struct Case {
    const char* name;
    const char* kind_argument;
    CopyKind kind;
    MemoryKind source, target;
  };
  const Case c = GENERATE(
      Case{"Memcpy HtoD (Pageable -> Device)", "", CopyKind::host_to_device, MemoryKind::pageable,
           MemoryKind::device},
      Case{"memcpy dtoh (device -> PINNED)", "", CopyKind::device_to_host, MemoryKind::device,
           MemoryKind::pinned},
      Case{"Memcpy DtoD (Device -> Device)", "", CopyKind::device_to_device, MemoryKind::device,
           MemoryKind::device},
      Case{"Memcpy PtoP (Device -> Device)", "", CopyKind::peer_to_peer, MemoryKind::device,
           MemoryKind::device},
      Case{"Memcpy AtoH (Array -> Managed)", "", CopyKind::array_to_host, MemoryKind::array,
           MemoryKind::managed},
      Case{"Memcpy HtoD (Host -> Device)", "HtoD", CopyKind::host_to_device, MemoryKind::unknown,
           MemoryKind::device},
      Case{"CopyHostToDevice", "", CopyKind::host_to_device, MemoryKind::unknown,
           MemoryKind::unknown},
      Case{"Memcpy", "DtoH", CopyKind::device_to_host, MemoryKind::unknown, MemoryKind::unknown},
      Case{"Memcpy Unknown (Unknown -> Device Static)", "", CopyKind::unknown, MemoryKind::unknown,
           MemoryKind::device_static},
      Case{"", "", CopyKind::unknown, MemoryKind::unknown, MemoryKind::unknown},
      Case{")( -> ", "", CopyKind::unknown, MemoryKind::unknown, MemoryKind::unknown});
  INFO(c.name);
  const CopyTraits traits = copy_traits(c.name, c.kind_argument);
  CHECK(traits.kind == c.kind);
  CHECK(traits.source == c.source);
  CHECK(traits.target == c.target);
  CHECK(fill_memory("Memset (Device)") == MemoryKind::device);
  CHECK(fill_memory("Memset (Unknown)") == MemoryKind::unknown);
  CHECK(fill_memory("Memset") == MemoryKind::unknown);
}
