// SPDX-License-Identifier: Apache-2.0
// Any plain struct as bytes for another rank, and back: members one after the other, as Boost.PFR finds them, so that a
// new member needs no line here. Strings, paths, vectors, optionals and maps have their number of elements in front;
// classes with private members show them by see_all(). What is read is from the same program (ranks.hpp checks that):
// only its length is doubted.
#pragma once

#include <array>
#include <boost/pfr/core.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/ranks/rank_bytes.hpp"

namespace softspine::testbeds {

template <typename T>
void put_struct(dataplane::RankBytes& out, const T& value);
template <typename T>
void take_struct(dataplane::RankReader& in, T& value);

namespace struct_bytes {

template <typename T>
inline constexpr bool is_sequence = false;
template <typename T>
inline constexpr bool is_sequence<std::vector<T>> = true;
template <>
inline constexpr bool is_sequence<std::string> = true;

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <typename T>
inline constexpr bool is_array = false;
template <typename T, size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;

template <typename T>
inline constexpr bool is_map = false;
template <typename K, typename V>
inline constexpr bool is_map<std::map<K, V>> = true;

template <typename T>
concept ShowsMembers = requires(T& value) { T::see_all(value, [](auto&) {}); };

}  // namespace struct_bytes

template <typename T>
void put_struct(dataplane::RankBytes& out, const T& value) {
  const auto put_member = [&out](const auto& member) { put_struct(out, member); };
  if constexpr (std::is_trivially_copyable_v<T>) {
    dataplane::put(out, value);
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    put_struct(out, value.native());
  } else if constexpr (struct_bytes::is_sequence<T>) {
    dataplane::put(out, uint64_t{value.size()});
    for (const auto& each : value) put_member(each);
  } else if constexpr (struct_bytes::is_map<T>) {
    dataplane::put(out, uint64_t{value.size()});
    for (const auto& [key, mapped] : value) {
      put_member(key);
      put_member(mapped);
    }
  } else if constexpr (struct_bytes::is_optional<T>) {
    dataplane::put(out, value.has_value());
    if (value) put_member(*value);
  } else if constexpr (struct_bytes::is_array<T>) {
    for (const auto& each : value) put_member(each);
  } else if constexpr (struct_bytes::ShowsMembers<T>) {
    T::see_all(value, put_member);
  } else {
    boost::pfr::for_each_field(value, put_member);
  }
}

template <typename T>
void take_struct(dataplane::RankReader& in, T& value) {
  const auto take_member = [&in](auto& member) { take_struct(in, member); };
  if constexpr (std::is_trivially_copyable_v<T>) {
    value = in.take<T>();
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    std::string text;
    take_struct(in, text);
    value = std::move(text);
  } else if constexpr (struct_bytes::is_sequence<T>) {
    value.clear();
    for (uint64_t left = in.take<uint64_t>(); left > 0 && in.is_whole(); --left) {
      typename T::value_type each{};
      take_member(each);
      value.push_back(std::move(each));
    }
  } else if constexpr (struct_bytes::is_map<T>) {
    value.clear();
    for (uint64_t left = in.take<uint64_t>(); left > 0 && in.is_whole(); --left) {
      std::pair<typename T::key_type, typename T::mapped_type> each;
      take_member(each.first);
      take_member(each.second);
      value.insert(std::move(each));
    }
  } else if constexpr (struct_bytes::is_optional<T>) {
    value.reset();
    if (in.take<bool>()) take_member(value.emplace());
  } else if constexpr (struct_bytes::is_array<T>) {
    for (auto& each : value) take_member(each);
  } else if constexpr (struct_bytes::ShowsMembers<T>) {
    T::see_all(value, take_member);
  } else {
    boost::pfr::for_each_field(value, take_member);
  }
}

}  // namespace softspine::testbeds
