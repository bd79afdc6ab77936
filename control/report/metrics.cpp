// SPDX-License-Identifier: Apache-2.0
#include "control/report/metrics.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>

#include "control/collectives/bus_bandwidth.hpp"
#include "control/collectives/collective_algorithms.hpp"
#include "control/telemetry/prometheus.hpp"

namespace softspine::control {

namespace {

constexpr double kGiga = 1e9;
constexpr double kMicrosecondsPerPs = 1e-6;

// all_reduce → AllReduce
std::string in_camel_case(std::string_view words) {
  std::string out;
  bool begins = true;
  for (const char c : words) {
    if (c != '_') out += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = c == '_';
  }
  return out;
}

// 1.5 MiB → 1-2MB, as the inspector has it: powers of 1,024 under the names of those of 1,000.
std::string size_bucket(uint64_t bytes) {
  static constexpr std::array<std::string_view, 5> kUnits{"B", "KB", "MB", "GB", "TB"};
  if (bytes == 0) return "0B";
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); bytes /= 1024) ++unit;
  return fmt::format("{}-{}{}", bytes, bytes + 1, kUnits[unit]);
}

template <typename Value>
void add_family(Exposition& out, const FabricSnapshot& snapshot, std::string_view name, std::string_view help,
                Value&& value) {
  out.family(name, Exposition::Type::kGauge, help);
  for (const CollectiveSnapshot& collective : snapshot.collectives) {
    for (const CollectiveSizeSnapshot& size : collective.sizes) {
      if (size.done == 0) continue;
      const CollectiveShape& shape = size.shape;
      const std::string servers = std::to_string(shape.ranks / shape.per_server);
      const std::string ranks = std::to_string(shape.ranks);
      const std::string bytes = std::to_string(shape.bytes);
      const std::string bucket = size_bucket(shape.bytes);
      const std::string kind = in_camel_case(word_for(shape.collective));
      const std::string how =
          fmt::format("{}_{}", in_camel_case(algorithm_row(shape.algorithm)->word), word_for(shape.protocol));
      out.sample({{"comm_name", collective.name},
                  {"n_nodes", servers},
                  {"nranks", ranks},
                  {"collective", kind},
                  {"message_size", bucket},
                  {"message_size_bytes", bytes},
                  {"algo_proto", how}},
                 value(size));
    }
  }
}

}  // namespace

void add_nccl_metrics(Exposition& out, const FabricSnapshot& snapshot) {
  add_family(out, snapshot, "nccl_bus_bandwidth_gbs", "Bus bandwidth of a collective at a size, in GB/s.",
             [](const CollectiveSizeSnapshot& size) { return bus_bandwidth(size.shape, size.mean) / kGiga; });
  add_family(out, snapshot, "nccl_collective_exec_time_microseconds", "Time of a collective at a size.",
             [](const CollectiveSizeSnapshot& size) {
               return static_cast<double>(size.mean.count_ps()) * kMicrosecondsPerPs;
             });
}

void put_metrics_pages(const FabricSnapshot& snapshot, const Exposition::PutPage& put) {
  Exposition out{put};
  add_prometheus(out, snapshot);
  add_nccl_metrics(out, snapshot);
  std::string rest = out.take();
  if (!rest.empty()) put(std::move(rest));
}

}  // namespace softspine::control
