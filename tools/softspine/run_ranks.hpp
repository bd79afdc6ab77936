// SPDX-License-Identifier: Apache-2.0
// `mpirun -n N softspine run FILE`: the processes agree before they run, rank 0 alone speaks and writes, and they end
// together.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testbeds/run/rank_network.hpp"
#include "testbeds/run/rank_process.hpp"
#include "tools/softspine/run_arguments.hpp"

namespace softspine::tools {

// What other ranks than the first print: kept from the terminal, and their errors for rank 0 to say.
class QuietOutput {
 public:
  explicit QuietOutput(bool is_quiet);
  ~QuietOutput();
  QuietOutput(const QuietOutput&) = delete;
  QuietOutput& operator=(const QuietOutput&) = delete;

  // Errors so far. From now on stderr is the terminal's again.
  std::string release_errors();

 private:
  int stdout_ = -1;  // the terminal's
  int stderr_ = -1;
  int errors_ = -1;  // a file without a name
};

// Null: this process is alone. An error has been said.
std::expected<std::unique_ptr<testbeds::RankProcess>, Status> start_ranks();
// A file, or a folder with all in it, goes with a run that ends for the loss of a rank.
void remove_when_lost(const std::string& path);

// Program, command line and file are the same everywhere. An error has been said, by rank 0.
std::expected<void, Status> agree(testbeds::RankProcess& ranks, const RunArguments& arguments);
// The files that the testbed was read from are the same everywhere, likewise. Null: this rank could not read it, and is
// left out of the comparison; it has said why.
std::expected<void, Status> agree_on_files(testbeds::RankProcess& ranks, const control::Testbed* testbed);
// All ranks have come to here without an error; else rank 0 says each rank's, and the worst status follows.
std::expected<void, Status> all_are_ready(testbeds::RankProcess& ranks, std::expected<void, Status> mine,
                                          QuietOutput& output);
// The worst of all.
Status joint_status(testbeds::RankProcess& ranks, Status mine);

// On the wall clock, the network between the ranks; nothing on the virtual one, or if a rank could not read its testbed
// (null).
std::optional<testbeds::RankNetwork> measured_network(testbeds::RankProcess& ranks, const control::Testbed* testbed);
// All hosts are of kinds that are there over ranks, and the network between the ranks is quick enough; else rank 0 has
// said what is wrong, and what would do.
std::expected<void, Status> able_over_ranks(const testbeds::RankProcess& ranks, const RunArguments& arguments,
                                            const control::Testbed& testbed,
                                            const std::optional<testbeds::RankNetwork>& network);

}  // namespace softspine::tools
