// SPDX-License-Identifier: Apache-2.0
// The words of collectives in a file: those of their own tables (control/collectives), and `auto`.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "control/collectives/collective_algorithms.hpp"
#include "control/format/format.hpp"

namespace softspine::control {

// A table's rows as words of a file, behind `first`.
template <typename E, typename Row, size_t N, size_t M>
constexpr auto words_of_rows(const std::array<Row, N>& rows, E Row::* value,
                             const std::array<std::pair<std::string_view, E>, M>& first) {
  std::array<std::pair<std::string_view, E>, N + M> out{};
  std::ranges::copy(first, out.begin());
  for (size_t i = 0; i < N; ++i) out[M + i] = {rows[i].word, rows[i].*value};
  return out;
}

template <>
struct Words<Collective> {
  static constexpr auto all = words_of_rows(kCollectiveWords, &CollectiveWord::collective,
                                            std::array<std::pair<std::string_view, Collective>, 0>{});
};
template <>
struct Words<CollectiveAlgorithm> {
  static constexpr auto all =
      words_of_rows(kCollectiveAlgorithms, &AlgorithmRow::algorithm,
                    std::array{std::pair{std::string_view{"auto"}, CollectiveAlgorithm::kAuto}});
};
template <>
struct Words<CollectiveProtocol> {
  static constexpr auto all = words_of_rows(kProtocolWords, &ProtocolWord::protocol,
                                            std::array{std::pair{std::string_view{"auto"}, CollectiveProtocol::kAuto}});
};
template <>
struct Words<Admission> {
  static constexpr std::array all{std::pair{"open", Admission::kOpen}, std::pair{"receiver", Admission::kReceiver}};
};

}  // namespace softspine::control
