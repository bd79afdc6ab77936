// SPDX-License-Identifier: Apache-2.0
// Requests to a fabric that several ranks run. A user asks rank 0, and parts of a run ask each other, at any rank and
// time; all ranks carry the requests out between the same two windows, so that control goes on alike everywhere: those
// of rank 0 first, then those of rank 1, each rank's in the order in which they were put.
//
//   requests.on("look", [&](const std::string& text, Instant now) { … });   on every rank, before the run
//   requests.put("look", text);                                              any thread of any rank
//
// A request is bytes: its kind and a text. In one process there is nothing to share, and nobody puts.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class RankRequests : public RunPart {
 public:
  using Act = std::function<void(const std::string& text, dataplane::Instant now)>;

  // `nodes` outlives it.
  explicit RankRequests(const LocalNodes& nodes) : nodes_(nodes) {}

  // Whether there are other ranks to share a request with.
  bool are_shared() const { return !nodes_.ranks().is_alone(); }
  bool is_first() const { return nodes_.ranks().is_first(); }
  // Called from an action, on every rank. It may post, and gather.
  void on(const std::string& kind, Act act) { acts_[kind] = std::move(act); }
  void put(std::string kind, std::string text);

  void start() override;

 private:
  struct Request {
    std::string kind;
    std::string text;
  };
  void carry_out(dataplane::Instant now);

  const LocalNodes& nodes_;
  std::map<std::string, Act> acts_;
  std::mutex lock_;
  std::vector<Request> waiting_;
};

}  // namespace softspine::testbeds
