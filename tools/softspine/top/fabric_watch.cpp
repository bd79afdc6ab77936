// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/top/fabric_watch.hpp"

#include <utility>

namespace softspine::tools {

using control::Client;
using control::Json;
using control::Result;

namespace {

const Json kAsJson{{"format", "json"}};

}  // namespace

std::expected<FabricWatch, std::string> FabricWatch::open(const std::string& fabric) {
  auto client = Client::connect_to_fabric(fabric);
  if (!client) return std::unexpected(client.error());
  const Result answer = client->call("show map", kAsJson);
  if (!answer) return std::unexpected(answer.error());
  auto map = control::port_map_from(*answer);
  if (!map) return std::unexpected(map.error());
  return FabricWatch{std::move(*client), std::move(*map)};
}

FabricWatch::Look FabricWatch::look() {
  return look_from(client_.call(kCommand, kAsJson));
}

std::expected<std::optional<FabricWatch::Look>, std::string> FabricWatch::take() {
  const auto answer = client_.take();
  if (!answer) return std::unexpected(answer.error());
  if (!*answer) return std::optional<Look>{};
  return std::optional<Look>{look_from(**answer)};
}

FabricWatch::Look FabricWatch::look_from(const Result& answer) const {
  if (!answer) return std::unexpected(answer.error());
  return control::pressure_from(*answer, map_);
}

}  // namespace softspine::tools
