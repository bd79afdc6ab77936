// SPDX-License-Identifier: Apache-2.0
// Rates and times as ns-3 reads them: DataRate and Time of its core and network modules.
//
//   25000000000     bits a second, since no unit stands there        1000ns, 0.001ms
//   25Gbps 25Gb/s   bits a second                                    0.000001    seconds, since no unit stands there
//   25GBps 25GB/s   bytes a second
//   1Kib/s 1MiB/s   with i: powers of 1024
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace softspine::control {

// Bits a second; none: no rate, or not in whole bits.
std::optional<uint64_t> ns3_rate(std::string_view text);
// Whole picoseconds.
std::optional<int64_t> ns3_time(std::string_view text);

}  // namespace softspine::control
