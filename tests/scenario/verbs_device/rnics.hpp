// SPDX-License-Identifier: Apache-2.0
// Two RNICs whose programs have memory: bytes that differ, all of them registered with every right.
#pragma once

#include <numeric>

#include "tests/scenario/verbs_device/two_rnics.hpp"

namespace softspine::testbeds {

inline constexpr uint32_t kAll =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
inline constexpr size_t kBytes = 64 << 10;

// Memory of both programs, all of it registered.
struct Memory {
  std::vector<uint8_t> bytes = std::vector<uint8_t>(kBytes);
  uint32_t key;
  explicit Memory(Program& program) : key(program.register_memory(bytes.data(), bytes.size(), kAll)) {}
  uint64_t at(size_t offset) { return reinterpret_cast<uint64_t>(bytes.data() + offset); }
  MemoryPiece piece(size_t offset, size_t count) { return {at(offset), static_cast<uint32_t>(count), key}; }
};

class Rnics : public testing::Test {
 protected:
  Rnics() {
    std::iota(own_.bytes.begin(), own_.bytes.end(), uint8_t{1});
    for (size_t i = 0; i < kBytes; ++i) theirs_.bytes[i] = static_cast<uint8_t>(i * 7 + (i >> 8));
  }
  Posted work(uint32_t opcode, size_t from, size_t to, size_t count, uint64_t id = 1) {
    return {
        .opcode = opcode, .id = id, .remote = theirs_.at(to), .key = theirs_.key, .pieces = {own_.piece(from, count)}};
  }
  std::vector<uint32_t> statuses(Program& program) {
    std::vector<uint32_t> all;
    for (const CompletionSlot& each : program.all_completions()) all.push_back(each.status);
    return all;
  }

  TwoRnics it_;
  Memory own_{it_.first};
  Memory theirs_{it_.second};
};

}  // namespace softspine::testbeds
