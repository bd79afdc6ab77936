// SPDX-License-Identifier: Apache-2.0
// The words of collectives in a file: those of their own tables (control/collectives), and `auto`.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "control/collectives/collective_algorithms.hpp"
#include "control/format/format.hpp"

namespace softspine::control {

template <>
struct Words<Collective> {
  static constexpr auto all = [] {
    std::array<std::pair<std::string_view, Collective>, kCollectiveWords.size()> out{};
    for (size_t i = 0; i < out.size(); ++i) out[i] = {kCollectiveWords[i].word, kCollectiveWords[i].collective};
    return out;
  }();
};
template <>
struct Words<CollectiveAlgorithm> {
  static constexpr auto all = [] {
    std::array<std::pair<std::string_view, CollectiveAlgorithm>, kCollectiveAlgorithms.size() + 1> out{};
    out[0] = {"auto", CollectiveAlgorithm::kAuto};
    for (size_t i = 0; i < kCollectiveAlgorithms.size(); ++i)
      out[i + 1] = {kCollectiveAlgorithms[i].word, kCollectiveAlgorithms[i].algorithm};
    return out;
  }();
};
template <>
struct Words<CollectiveProtocol> {
  static constexpr auto all = [] {
    std::array<std::pair<std::string_view, CollectiveProtocol>, kProtocolWords.size() + 1> out{};
    out[0] = {"auto", CollectiveProtocol::kAuto};
    for (size_t i = 0; i < kProtocolWords.size(); ++i)
      out[i + 1] = {kProtocolWords[i].word, kProtocolWords[i].protocol};
    return out;
  }();
};

template <>
struct Words<Admission> {
  static constexpr std::array all{std::pair{"open", Admission::kOpen}, std::pair{"receiver", Admission::kReceiver}};
};

}  // namespace softspine::control
