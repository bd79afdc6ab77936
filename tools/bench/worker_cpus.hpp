// SPDX-License-Identifier: Apache-2.0
// Each worker on a CPU of its own while a bench runs: two that share one wait for each other at every window.
// Nothing is pinned with one worker, or with fewer CPUs than workers. The caller runs worker 0 and may run
// where it liked before when this ends.
#pragma once

#include <sched.h>

#include <cstdint>
#include <vector>

namespace softspine::tools {

class WorkerCpus {
 public:
  explicit WorkerCpus(uint32_t workers) {
    CPU_ZERO(&before_);
    sched_getaffinity(0, sizeof before_, &before_);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) cpus_.push_back(cpu);
    }
    if (workers == 1 || workers > cpus_.size()) cpus_.clear();
  }
  ~WorkerCpus() { sched_setaffinity(0, sizeof before_, &before_); }
  WorkerCpus(const WorkerCpus&) = delete;
  WorkerCpus& operator=(const WorkerCpus&) = delete;

  // The calling thread is this worker's.
  void pin(uint32_t worker) const {
    if (cpus_.empty()) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpus_[worker], &one);
    sched_setaffinity(0, sizeof one, &one);
  }

 private:
  cpu_set_t before_;
  std::vector<int> cpus_;
};

}  // namespace softspine::tools
