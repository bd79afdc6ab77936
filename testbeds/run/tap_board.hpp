// SPDX-License-Identifier: Apache-2.0
// Which captures watch which port, so that several can watch one. A port that nobody watches has no tap, and costs
// what it costs without captures. A single watcher is the port's tap itself; several are called one after the other, in
// the order they came.
// To be used from actions, or while nothing runs.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "dataplane/link/tap.hpp"
#include "testbeds/run/local_nodes.hpp"

namespace softspine::testbeds {

class TapBoard {
 public:
  // The nodes must outlive the TapBoard.
  explicit TapBoard(const LocalNodes& nodes);
  ~TapBoard();

  struct Place {
    control::LinkEnd port;
    bool received = false;  // what a switch's port receives; else what any port sends
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  // The tap must live until it is removed.
  void add(const Place& place, dataplane::Tap* tap);
  void remove(const Place& place, dataplane::Tap* tap);

 private:
  class Fan;
  void connect(const Place& place);

  const LocalNodes& nodes_;
  std::map<Place, std::unique_ptr<Fan>> fans_;
};

}  // namespace softspine::testbeds
