// SPDX-License-Identifier: Apache-2.0
// This process as one of the ranks that a launcher of MPI has started: its link to the others, and what all of them
// agree on before and after the run. Calls are made by all ranks, in the same order.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/ranks/rank_link.hpp"
#include "dataplane/ranks/rank_talk.hpp"

namespace softspine::testbeds {

// What all ranks must have alike.
struct RankFact {
  std::string what;  // version
  std::string value;
  bool operator==(const RankFact&) const = default;
};

// The message of a rank to all others, with its status.
struct RankWord {
  int status = 0;
  std::string text;
};

class RankProcess {
 public:
  // Null: this process is alone. `on_loss` gets a sentence when a rank is lost, and must not return. The error is a
  // sentence, too.
  static std::expected<std::unique_ptr<RankProcess>, std::string> start(
      std::function<void(const std::string&)> on_loss);
  RankProcess(std::unique_ptr<dataplane::RankLink> link, std::function<void(const std::string&)> on_loss);

  dataplane::RankTalk& talk() { return talk_; }
  uint32_t rank() const { return talk_.rank(); }
  uint32_t ranks() const { return talk_.ranks(); }
  bool is_first() const { return rank() == 0; }

  // Empty: all ranks have the same facts as rank 0. Else a sentence with the first rank that has not. A rank without
  // any is not compared.
  std::string disagreement(const std::vector<RankFact>& mine);
  // By rank.
  std::vector<RankWord> gather(const RankWord& mine);

 private:
  std::unique_ptr<dataplane::RankLink> link_;
  dataplane::RankTalk talk_;
};

}  // namespace softspine::testbeds
