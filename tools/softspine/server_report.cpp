// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/server_report.hpp"

#include <fmt/format.h>

#include "control/format/quantity.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::tools {

using control::Json;
using dataplane::Rate;

namespace {

std::string shown_rate(Rate rate) {
  if (rate.is_zero()) return "-";
  return control::print_quantity(static_cast<int64_t>(rate.count_bps()), control::kRateQuantity);
}

Json known_rate(Rate rate) {
  return rate.is_zero() ? Json() : Json(rate.count_bps());
}

}  // namespace

std::string server_text(const control::ServerTopology& topology) {
  control::TextTable table({"GPU", "<BUS", "NIC", "<BUS", "<NAME", "<PATH", "NIC'S RATE", "ITS PCIE"});
  for (size_t i = 0; i < topology.gpus.size(); ++i) {
    const control::ServerGpu& gpu = topology.gpus[i];
    const control::ServerNic& nic = topology.nics[gpu.nic];
    table.add({std::to_string(i), gpu.bus, std::to_string(gpu.nic), nic.bus.empty() ? "-" : nic.bus,
               nic.name.empty() ? "-" : nic.name, std::string(word_for(gpu.path)), shown_rate(nic.rate),
               shown_rate(nic.pcie)});
  }
  const std::string links = topology.gpu_nvlink
                                ? fmt::format("{} NVLinks a GPU: scale_up_rate {}\n", topology.gpus.front().nvlinks,
                                              shown_rate(*topology.gpu_nvlink))
                                : "no NVLinks in the file: scale_up_rate stays the nodes' own\n";
  return table.text() + links;
}

Json server_json(const control::ServerTopology& topology) {
  Json gpus = Json::array();
  for (const control::ServerGpu& gpu : topology.gpus) {
    const control::ServerNic& nic = topology.nics[gpu.nic];
    gpus.push_back({{"bus", gpu.bus},
                    {"path", word_for(gpu.path)},
                    {"nic",
                     {{"number", gpu.nic},
                      {"bus", nic.bus},
                      {"name", nic.name},
                      {"rate_bps", known_rate(nic.rate)},
                      {"pcie_bps", known_rate(nic.pcie)}}}});
  }
  Json notes = Json::array();
  for (const control::Error& note : topology.notes)
    notes.push_back({{"file", note.file}, {"line", note.line}, {"text", note.message}});
  return {{"gpus", std::move(gpus)},
          {"nics", topology.nics.size()},
          {"nvlinks", topology.gpus.front().nvlinks},
          {"scale_up_rate_bps", known_rate(topology.gpu_nvlink.value_or(Rate{}))},
          {"notes", std::move(notes)}};
}

}  // namespace softspine::tools
