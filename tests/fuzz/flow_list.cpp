// SPDX-License-Identifier: Apache-2.0
// A list of flows, or a distribution of their sizes, of any bytes, its format by the first byte: mistakes with words
// and places, or flows that can be sent and sizes that can be drawn.
#include "control/imports/flow_list.hpp"

#include <cstdint>
#include <string_view>

#include "control/imports/size_file.hpp"
#include "control/traffic/flow.hpp"
#include "dataplane/units/check.hpp"

using namespace softspine;

namespace {

void look_at(const control::ErrorLog& log, control::Errors errors) {
  SOFTSPINE_CHECK(log.count() == 0 || !errors.empty(), log.count(), errors.size());
  for (const control::Error& error : errors) SOFTSPINE_CHECK(!error.message.empty(), error.line, error.column);
}

void read_flows(std::string_view text, control::FlowListFormat format) {
  control::ErrorsByKind errors("fuzz.txt");
  uint64_t flows = 0;
  read_flow_list(text, format, errors, [&](const control::FlowLine& line) {
    ++flows;
    SOFTSPINE_CHECK(line.bytes > 0 && line.bytes <= control::kMaxMessageBytes, line.bytes, line.from.line);
    SOFTSPINE_CHECK(line.start_ps >= 0 && line.dscp.value_or(0) < 64, line.start_ps, line.from.line);
    SOFTSPINE_CHECK(line.from.text != line.to.text, line.from.line, line.to.column);
  });
  SOFTSPINE_CHECK(flows <= control::kMaxListedFlows, flows, text.size());
  control::ErrorLog log;
  errors.put_into(log);
  look_at(log, log.finish());
}

void read_sizes(std::string_view text) {
  control::ErrorsByKind errors("fuzz.txt");
  const auto sizes = control::read_size_file(text, errors);
  SOFTSPINE_CHECK(sizes.has_value() != errors.any(), text.size(), 0);
  if (!sizes) return;
  dataplane::Rng rng{text.size(), 1};
  for (int i = 0; i < 64; ++i) {
    const uint64_t bytes = sizes->draw(rng);
    SOFTSPINE_CHECK(bytes > 0 && bytes <= control::kMaxMessageBytes, bytes, i);
  }
  SOFTSPINE_CHECK(sizes->mean() <= static_cast<double>(control::kMaxMessageBytes), text.size(), 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  if (data[0] % 3 == 0) read_flows(text, control::FlowListFormat::kHpcc);
  if (data[0] % 3 == 1) read_flows(text, control::FlowListFormat::kCsv);
  if (data[0] % 3 == 2) read_sizes(text);
  return 0;
}
