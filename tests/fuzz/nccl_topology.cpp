// SPDX-License-Identifier: Apache-2.0
// Any bytes are a server, whose GPUs each have a NIC of their own, or a list of mistakes, each with words and a line of
// the file.
#include "control/collectives/nccl_topology.hpp"

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

namespace {

using namespace softspine::control;

void require(bool claim) {
  if (!claim) std::abort();
}

void check(const ServerTopology& topology) {
  std::set<uint32_t> nics;
  for (const ServerGpu& gpu : topology.gpus) {
    require(gpu.nic < topology.nics.size() && nics.insert(gpu.nic).second);
    require(gpu.nvlinks == topology.gpus.front().nvlinks);
  }
  require(!topology.gpus.empty());
  require(topology.gpu_nvlink.has_value() == (topology.gpus.front().nvlinks > 0));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto topology = read_nccl_topology(text, "fuzz.xml");
  int lines = 1;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  if (topology) check(*topology);
  const Errors& all = topology ? topology->notes : topology.error();
  require(topology || !all.empty());
  for (const Error& error : all) require(!error.message.empty() && error.line > 0 && error.line <= lines);
  return 0;
}
