// SPDX-License-Identifier: Apache-2.0
// NCCL's topology XML: what is in a server, as NCCL_TOPO_FILE gives it and NCCL_TOPO_DUMP_FILE writes it.
//
//   <system>
//     <cpu numaid>
//       <pci busid class link_speed link_width>     0x0300, 0x0302 GPU; 0x0200, 0x0207 NIC; 0x0604 PCIe switch
//         <gpu dev sm> <nvlink target count tclass>   of a GPU; tclass 0x0680: NVSwitch
//         <nic> <net name dev speed>                  of a NIC, or of a cpu; speed in Mb/s
//
//   numbers   GPUs and NICs have those of `dev`; without them, by bus ids, ascending
//   path      from a GPU to a NIC: PIX by one PCIe switch, PXB by several, PHB by the cpu, SYS from cpu to cpu
//   NIC       of a GPU, as NCCL's first channel has it: among the k NICs by the shortest path, number dev modulo k, the
//             bits of dev reversed if k is a power of two. NCCL compares the paths' rates first: the same if NICs are
//             alike, else a note says it
//   NVLink    GB/s a link, each way, by sm, as NCCL takes them: 60 18, 70 and 80 20, 86 12, 90 20.6, 100 40.1
//   PCIe      NCCL's GB/s of 16 lanes: 2.5 GT/s 3, 5 6, 8 12, 16 24, 32 48, 64 96
//
// Refused: what built-in hosts are not: two GPUs with one NIC; NVLinks from GPU to GPU, which join pairs at rates of
// their own; NVLinks of some GPUs alone, or unlike ones; elements and classes that are not named here. Notes: pcilink
// and c2c, which change nothing; unlike NICs. Maxima: 1 MiB, 4,096 devices, 32 levels. After 50 mistakes it gives up.
// Source: NCCL's topo.cc, xml.cc and topo.h.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/document/error.hpp"
#include "dataplane/units/rate.hpp"

namespace softspine::control {

inline constexpr size_t kMaxTopologyBytes = 1U << 20U;

enum class PciPath : uint8_t { kPix, kPxb, kPhb, kSys };
std::string_view word_for(PciPath path);

struct ServerGpu {
  std::string bus;
  uint32_t nic = 0;
  PciPath path = PciPath::kPix;  // to it
  uint32_t nvlinks = 0;          // to NVSwitches
};

struct ServerNic {
  std::string bus;       // empty: it is at no PCIe
  std::string name;      // empty: the file has none
  dataplane::Rate rate;  // zero: the file does not say
  dataplane::Rate pcie;  // likewise
};

struct ServerTopology {
  std::vector<ServerGpu> gpus;                // by number
  std::vector<ServerNic> nics;                // likewise
  std::optional<dataplane::Rate> gpu_nvlink;  // of a GPU, each way; none: the file has no NVLinks
  Errors notes;
};

// `name`: of the file, in errors.
std::expected<ServerTopology, Errors> read_nccl_topology(std::string_view text, const std::string& name);

}  // namespace softspine::control
