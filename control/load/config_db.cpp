// SPDX-License-Identifier: Apache-2.0
#include "control/load/config_db.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace softspine::control {
namespace {

struct Card {
  std::string host;
  std::string asic;
};

template <typename Row>
void look_for_card(const Keyed<PortRange, Row>& table, Card& card) {
  for (const auto& item : table.items) {
    if (item.key.host.empty()) continue;
    if (card.host.empty()) card.host = item.key.host;
    if (card.asic.empty() && item.key.host == card.host) card.asic = item.key.asic;
    if (!card.asic.empty()) return;
  }
}

template <typename Row>
void keep_own(Reader& reader, const char* name, const Card& card, Keyed<PortRange, Row>& table) {
  std::erase_if(table.items, [&](const auto& item) {
    const bool own = item.key.host.empty() || (item.key.host == card.host && item.key.asic == card.asic);
    if (!own) reader.ignore(item.at, name, "rows of " + item.key.host + "|" + item.key.asic);
    return !own;
  });
}

// "x86_64-mlnx_msn2700-r0": the chip of NVIDIA's switches of this number, as SONiC's asic_table.j2 has it.
std::optional<Platform> platform_of(std::string_view name) {
  const size_t at = name.rfind("sn");
  if (at == std::string_view::npos || !name.starts_with("x86_64-")) return std::nullopt;
  uint32_t number = 0;
  std::from_chars(name.data() + at + 2, name.data() + name.size(), number);
  switch (number / 1000) {
    case 2: return Platform::kSpectrum;
    case 3: return Platform::kSpectrum2;
    case 4: return Platform::kSpectrum3;
    case 5: return number < 5'640 ? std::optional(Platform::kSpectrum4) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

void finish_config_db(Reader& reader, ProfileRow& row) {
  Card card;
  if (row.device_metadata && row.device_metadata->localhost) {
    const LocalhostRow& localhost = *row.device_metadata->localhost;
    card = {localhost.hostname.value_or(""), localhost.asic_name.value_or("")};
    if (localhost.platform) row.platform = platform_of(*localhost.platform);
  }
  look_for_card(row.buffer_queue, card);
  look_for_card(row.queue, card);
  look_for_card(row.buffer_pg, card);
  keep_own(reader, "BUFFER_QUEUE", card, row.buffer_queue);
  keep_own(reader, "QUEUE", card, row.queue);
  keep_own(reader, "BUFFER_PG", card, row.buffer_pg);
}

}  // namespace softspine::control
