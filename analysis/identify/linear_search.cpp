// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/linear_search.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace softspine::analysis {

namespace {

constexpr size_t kAtOnce = 8;  // families of a core: a tenth of a second

// The results of some families, each by itself.
std::vector<SearchResult> results_of(std::vector<Trial>& trials, std::span<const Family> families) {
  std::vector<SearchResult> out(families.size());
  std::atomic<size_t> next = 0;
  const auto work = [&](Trial& trial) {
    for (size_t i = next++; i < families.size(); i = next++) {
      if (families[i].is_linear) trial.run(families[i], out[i]);
    }
  };
  std::vector<std::future<void>> others;
  for (size_t i = 1; i < trials.size(); ++i)
    others.push_back(std::async(std::launch::async, [&work, &trial = trials[i]] { work(trial); }));
  work(trials.front());
  for (auto& other : others) other.get();
  return out;
}

}  // namespace

void run_linear(const Trial& trial, std::span<const Family> families, const std::function<bool(size_t)>& goes_on,
                SearchResult& out) {
  std::vector<Trial> trials(std::max(1U, std::thread::hardware_concurrency()), trial);
  const size_t at_once = kAtOnce * trials.size();
  for (size_t from = 0; from < families.size(); from += at_once) {
    const auto some = families.subspan(from, std::min(at_once, families.size() - from));
    const std::vector<SearchResult> results = results_of(trials, some);
    for (size_t i = 0; i < results.size(); ++i) {
      if (out.is_cut || !goes_on(from + i)) return;
      out.add(results[i]);
    }
  }
}

}  // namespace softspine::analysis
