// SPDX-License-Identifier: Apache-2.0
// A rank of Gloo over its ibverbs transport, which PyTorch does not offer: gloo_verbs RANK RANKS FOLDER COUNT. All meet
// in FOLDER; two algorithms of AllReduce and a broadcast of COUNT numbers, each compared with the sums that they have.
// Algorithms are never destroyed: Gloo does not wait for the completions of their last sends, and takes one that is
// still to come for an error.
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/ibverbs/device.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Rank {
  int number;
  int ranks;
  std::shared_ptr<gloo::rendezvous::Context> context;

  double own(size_t i) const { return static_cast<double>((i * 7 + 1) % 1000 + 1) * (number + 1); }
  // Integers below 2^53: every order of addition has the same sum.
  bool is_sum(const std::vector<double>& all) const {
    const double factor = ranks * (ranks + 1) / 2.0;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i] != own(i) / (number + 1) * factor) return false;
    }
    return true;
  }
  std::vector<double> fresh(size_t count) const {
    std::vector<double> out(count);
    for (size_t i = 0; i < count; ++i) out[i] = own(i);
    return out;
  }
};

template <typename Algorithm>
bool sums(const Rank& rank, size_t count) {
  std::vector<double>& numbers = *new std::vector<double>(rank.fresh(count));
  (new Algorithm(rank.context, {numbers.data()}, static_cast<int>(count)))->run();
  return rank.is_sum(numbers);
}

bool broadcasts(const Rank& rank, size_t count) {
  std::vector<double>& numbers = *new std::vector<double>(rank.fresh(count));
  (new gloo::BroadcastOneToAll<double>(rank.context, {numbers.data()}, static_cast<int>(count), 0))->run();
  for (size_t i = 0; i < count; ++i) {
    if (numbers[i] != rank.own(i) / (rank.number + 1)) return false;
  }
  return true;
}

}  // namespace

int main(int, char** argv) {
  Rank rank{std::atoi(argv[1]), std::atoi(argv[2]), nullptr};
  const auto count = static_cast<size_t>(std::atoi(argv[4]));
  gloo::transport::ibverbs::attr attributes;
  attributes.name = "softspine0";
  attributes.port = 1;
  attributes.index = 0;
  auto device = gloo::transport::ibverbs::CreateDevice(attributes);
  gloo::rendezvous::FileStore store(argv[3]);
  rank.context = std::make_shared<gloo::rendezvous::Context>(rank.number, rank.ranks);
  rank.context->connectFullMesh(store, device);
  bool is_right = sums<gloo::AllreduceRing<double>>(rank, count);
  is_right = sums<gloo::AllreduceHalvingDoubling<double>>(rank, count) && is_right;
  is_right = broadcasts(rank, count) && is_right;
  // By the folder: whoever ends takes its queue pairs along.
  store.set("done-" + std::to_string(rank.number), {1});
  std::vector<std::string> all;
  for (int i = 0; i < rank.ranks; ++i) all.push_back("done-" + std::to_string(i));
  store.wait(all, std::chrono::seconds(60));
  std::puts(is_right ? "right" : "wrong");
  std::fflush(stdout);
  std::_Exit(is_right ? 0 : 1);
}
