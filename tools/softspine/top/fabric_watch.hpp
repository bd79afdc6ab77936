// SPDX-License-Identifier: Apache-2.0
// A running fabric, looked at again and again over its control socket: its ports once, then what they are up against.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "control/report/port_pressure.hpp"
#include "control/server/client.hpp"

namespace softspine::tools {

class FabricWatch {
 public:
  // By the testbed's name; empty: the only one that runs. Error: there is none, or it has no such views.
  static std::expected<FabricWatch, std::string> open(const std::string& fabric);

  const control::PortMap& map() const { return map_; }
  // Waits for the answer.
  std::expected<control::FabricPressure, std::string> look();

  // Without waiting. An error of ask() and the outer one of take(): the fabric is gone. The inner one: it has no answer
  // this time.
  std::expected<void, std::string> ask() { return client_.ask(kCommand); }
  using Look = std::expected<control::FabricPressure, std::string>;
  std::expected<std::optional<Look>, std::string> take();
  int descriptor() const { return client_.descriptor(); }

 private:
  static constexpr const char* kCommand = "show pressure";
  FabricWatch(control::Client client, control::PortMap map) : client_(std::move(client)), map_(std::move(map)) {}
  Look look_from(const control::Result& answer) const;

  control::Client client_;
  control::PortMap map_;
};

}  // namespace softspine::tools
