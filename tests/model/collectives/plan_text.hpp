// SPDX-License-Identifier: Apache-2.0
// MSCCL's XML, written by rules that the tests know.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softspine::tests {

struct PlanChunk {
  char buffer = 'i';
  uint32_t chunk = 0;
};
struct AfterStep {
  int tb = -1;
  int step = -1;
};

class PlanText {
 public:
  PlanText(const std::string& coll, uint32_t gpus, uint32_t chunks, const std::string& more = "")
      : head_("<algo name=\"p\" proto=\"Simple\" nchannels=\"2\" nchunksperloop=\"" + std::to_string(chunks) +
              "\" ngpus=\"" + std::to_string(gpus) + "\" coll=\"" + coll + "\" " + more + ">\n"),
        gpus_(gpus),
        tbs_(gpus),
        scratch_(gpus) {}

  // Returns its number.
  size_t tb(uint32_t gpu, int to, int from, int channel = 0) {
    tbs_[gpu].push_back({to, from, channel, {}});
    return tbs_[gpu].size() - 1;
  }
  void step(uint32_t gpu, size_t tb, const std::string& type, PlanChunk from, PlanChunk to, uint32_t chunks = 1,
            AfterStep after = {}) {
    std::vector<std::string>& steps = tbs_[gpu][tb].steps;
    steps.push_back("<step s=\"" + std::to_string(steps.size()) + "\" type=\"" + type + "\" srcbuf=\"" + from.buffer +
                    "\" srcoff=\"" + std::to_string(from.chunk) + "\" dstbuf=\"" + to.buffer + "\" dstoff=\"" +
                    std::to_string(to.chunk) + "\" cnt=\"" + std::to_string(chunks) + "\" depid=\"" +
                    std::to_string(after.tb) + "\" deps=\"" + std::to_string(after.step) + "\" hasdep=\"0\"/>\n");
  }
  void scratch(uint32_t gpu, uint32_t chunks) { scratch_[gpu] = chunks; }

  std::string text() const {
    std::string out = head_;
    for (uint32_t gpu = 0; gpu < gpus_; ++gpu) {
      out += "<gpu id=\"" + std::to_string(gpu) + "\" i_chunks=\"0\" o_chunks=\"0\" s_chunks=\"" +
             std::to_string(scratch_[gpu]) + "\">\n";
      for (size_t i = 0; i < tbs_[gpu].size(); ++i) {
        const Tb& tb = tbs_[gpu][i];
        out += "<tb id=\"" + std::to_string(i) + "\" send=\"" + std::to_string(tb.to) + "\" recv=\"" +
               std::to_string(tb.from) + "\" chan=\"" + std::to_string(tb.channel) + "\">\n";
        for (const std::string& step : tb.steps) out += step;
        out += "</tb>\n";
      }
      out += "</gpu>\n";
    }
    return out + "</algo>\n";
  }

 private:
  struct Tb {
    int to;
    int from;
    int channel;
    std::vector<std::string> steps;
  };
  std::string head_;
  uint32_t gpus_;
  std::vector<std::vector<Tb>> tbs_;
  std::vector<uint32_t> scratch_;
};

// AllReduce in place by one tb a gpu: as NCCL's ring, which starts with the gpu's chunk before its own; without its
// fused steps, or with them.
inline std::string ring_plan(uint32_t n, bool fused = false) {
  PlanText plan("allreduce", n, n, "inplace=\"1\" outofplace=\"0\"");
  for (uint32_t gpu = 0; gpu < n; ++gpu) {
    const size_t tb = plan.tb(gpu, static_cast<int>((gpu + 1) % n), static_cast<int>((gpu + n - 1) % n));
    const auto add = [&](const std::string& type, uint32_t back) {
      const PlanChunk at{'i', (gpu + 2 * n - 1 - back) % n};
      plan.step(gpu, tb, type, at, at);
    };
    add("s", 0);
    for (uint32_t back = 1; back + 1 < n; ++back) {
      add(fused ? "rrs" : "rrc", back);
      if (!fused) add("s", back);
    }
    add(fused ? "rrcs" : "rrc", n - 1);
    if (!fused) add("s", n - 1);
    for (uint32_t back = n; back + 1 < 2 * n - 1; ++back) {
      add(fused ? "rcs" : "r", back);
      if (!fused) add("s", back);
    }
    add("r", 2 * n - 2);
  }
  return plan.text();
}

// ReduceScatter in place: all others' chunks come to scratch at once, and a tb of its own adds them up.
inline std::string gathering_plan(uint32_t n) {
  PlanText plan("reducescatter", n, n, "inplace=\"1\" outofplace=\"0\"");
  for (uint32_t gpu = 0; gpu < n; ++gpu) {
    plan.scratch(gpu, n - 1);
    for (uint32_t d = 1; d < n; ++d) {
      const uint32_t to = (gpu + d) % n;
      const size_t tb = plan.tb(gpu, static_cast<int>(to), static_cast<int>((gpu + n - d) % n), d % 2 == 0 ? 1 : 0);
      plan.step(gpu, tb, "s", {'i', to}, {'i', to});
      plan.step(gpu, tb, "r", {'s', d - 1}, {'s', d - 1});
    }
    const size_t adder = plan.tb(gpu, -1, -1);
    for (uint32_t d = 1; d < n; ++d) {
      // What is added first waits twice.
      if (d == 1) plan.step(gpu, adder, "nop", {}, {}, 1, {static_cast<int>(n) - 2, 1});
      plan.step(gpu, adder, "re", {'s', d - 1}, {'o', 0}, 1, {static_cast<int>(d) - 1, 1});
    }
  }
  return plan.text();
}

// AllToAll out of place, two chunks a pair in one step; the own ones are copied.
inline std::string pairs_plan(uint32_t n) {
  PlanText plan("alltoall", n, 2 * n, "inplace=\"0\" outofplace=\"1\"");
  for (uint32_t gpu = 0; gpu < n; ++gpu) {
    const size_t copier = plan.tb(gpu, -1, -1);
    plan.step(gpu, copier, "cpy", {'i', 2 * gpu}, {'o', 2 * gpu}, 2);
    for (uint32_t d = 1; d < n; ++d) {
      const uint32_t to = (gpu + d) % n;
      const uint32_t from = (gpu + n - d) % n;
      const size_t tb = plan.tb(gpu, static_cast<int>(to), static_cast<int>(from));
      plan.step(gpu, tb, "s", {'i', 2 * to}, {'o', 2 * gpu}, 2);
      plan.step(gpu, tb, "r", {'i', 2 * gpu}, {'o', 2 * from}, 2);
    }
  }
  return plan.text();
}

// AllGather in place, around a ring: `i` is the gpu's block of `o`.
inline std::string passing_plan(uint32_t n) {
  PlanText plan("allgather", n, n, "inplace=\"1\" outofplace=\"0\"");
  for (uint32_t gpu = 0; gpu < n; ++gpu) {
    const size_t tb = plan.tb(gpu, static_cast<int>((gpu + 1) % n), static_cast<int>((gpu + n - 1) % n), 1);
    plan.step(gpu, tb, "s", {'i', 0}, {'o', gpu});
    for (uint32_t back = 1; back < n; ++back) {
      const PlanChunk at{'o', (gpu + n - back) % n};
      plan.step(gpu, tb, back + 1 < n ? "rcs" : "r", at, at);
    }
  }
  return plan.text();
}

}  // namespace softspine::tests
