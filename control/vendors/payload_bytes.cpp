// SPDX-License-Identifier: Apache-2.0
#include "control/vendors/payload_bytes.hpp"

#include <charconv>
#include <optional>
#include <string_view>

namespace softspine::control {
namespace {

constexpr uint32_t kUdpHeaderBytes = 8;
constexpr uint8_t kUdpProtocol = 17;

std::optional<uint16_t> byte_number(std::string_view text) {
  uint16_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

// "5-7", or "5". Nothing: no such bytes, or more than a UDF can reach.
std::optional<dataplane::Udf> payload_udf(std::string_view range, uint16_t port) {
  const size_t dash = range.find('-');
  const auto first = byte_number(range.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : byte_number(range.substr(dash + 1));
  if (!first || !last || *last < *first || *last - *first >= static_cast<int>(dataplane::kMaxUdfBytes)) return {};
  if (kUdpHeaderBytes + *last >= dataplane::kMaxUdfReach) return {};
  return dataplane::Udf{.base = dataplane::UdfBase::kL4,
                        .offset = static_cast<uint16_t>(kUdpHeaderBytes + *first),
                        .length = static_cast<uint8_t>(*last - *first + 1),
                        .mask = {},
                        .l2_type = {},
                        .l3_protocol = kUdpProtocol,
                        .l4_dst_port = port};
}

}  // namespace

PayloadBytes read_payload_bytes(const std::vector<std::string>& values) {
  PayloadBytes out;
  const auto port = values.empty() ? std::nullopt : byte_number(values[0]);
  out.is_head = port && values.size() == 1;
  if (out.is_head) return out;
  const bool says_bytes = port && values.size() > 3 && values[1] == "payload" && values[2] == "bytes";
  if (!says_bytes) {
    out.why_not = "hashes bytes of the payload of UDP packets, by a condition that no model here has";
    return out;
  }
  for (size_t i = 3; i < values.size(); ++i) {
    if (values[i] == "hash" && i + 1 == values.size()) break;
    const auto udf = payload_udf(values[i], *port);
    if (!udf) {
      out.why_not = "a UDF here has at most " + std::to_string(dataplane::kMaxUdfBytes) +
                    " bytes, the last before byte " + std::to_string(dataplane::kMaxUdfReach - kUdpHeaderBytes) +
                    " of the payload";
      return out;
    }
    out.udfs.push_back(*udf);
  }
  return out;
}

}  // namespace softspine::control
