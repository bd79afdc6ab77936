// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/packet_shortage.hpp"

#include <fmt/format.h>

#include "testbeds/run/packet_need.hpp"

namespace softspine::testbeds {

std::string packet_shortage(const control::Testbed& testbed, const Assembly& assembly) {
  const PacketNeed need = packet_need(testbed);
  const dataplane::PacketBudget& budget = *assembly.budget;
  return fmt::format(
      "out of memory for packets at {} ps: {} packets take {} B, and there are {} B ({}); this testbed may need up to "
      "{} B, for {} packets",
      assembly.engine->now().count_ps(), assembly.packets_made(), budget.taken_bytes(), budget.limit_bytes(),
      testbed.run.memory_bytes == budget.limit_bytes() ? "run: memory" : "what the machine has left", need.bytes,
      need.packets);
}

}  // namespace softspine::testbeds
