// SPDX-License-Identifier: Apache-2.0
// How a struct of parameters declares its keys in testbed files: a tuple of them, beside the struct. Tables read them
// (control/format/table.hpp), so that reading, messages, schema and reference come from there.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace softspine::dataplane {

// A parameter that may have no value is held to bounds of the value.
template <typename T>
struct ParameterValue {
  using Type = T;
};
template <typename T>
struct ParameterValue<std::optional<T>> {
  using Type = T;
};

// One parameter: its key, its member, its meaning, and its bounds, both included.
template <typename Parameters, typename T>
struct ParameterKey {
  using Bound = std::optional<typename ParameterValue<T>::Type>;

  std::string_view key;
  T Parameters::* member;
  std::string_view help;
  Bound least;
  Bound most;
  bool has_default = true;

  // If it is not given, it is off, or follows from others: the reference names no default.
  constexpr ParameterKey without_default() const {
    ParameterKey out = *this;
    out.has_default = false;
    return out;
  }
};
template <typename Parameters, typename T>
constexpr ParameterKey<Parameters, T> parameter(
    std::string_view key, T Parameters::* member, std::string_view help,
    std::type_identity_t<typename ParameterKey<Parameters, T>::Bound> least = {},
    std::type_identity_t<typename ParameterKey<Parameters, T>::Bound> most = {}) {
  return {key, member, help, least, most};
}

// see(key) for the name of each.
template <typename... Keys, typename See>
void for_each_key(const std::tuple<Keys...>& keys, See&& see) {
  std::apply([&](const auto&... each) { (see(each.key), ...); }, keys);
}

}  // namespace softspine::dataplane
