// SPDX-License-Identifier: Apache-2.0
// A table's knowledge of a key's type, whatever row it stands in: a value of it lies somewhere in memory. A table has
// dozens of keys, so what is a template here is instantiated once for each type, not for each key or row.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "control/format/format.hpp"

namespace softspine::control {

template <typename T>
struct Inner {
  using Type = T;
};
template <typename T>
struct Inner<std::optional<T>> {
  using Type = T;
};
template <typename T>
struct Inner<std::shared_ptr<const T>> {
  using Type = T;
};
template <typename T>
struct Inner<Tried<T>> {
  using Type = T;
};
template <typename T>
using InnerType = typename Inner<T>::Type;

// "must be at least 1, not '0'"; returns false.
bool beyond(Reader& reader, Value value, std::string_view which, const Json& limit);

template <typename T>
struct Limits {
  std::optional<T> least;
  std::optional<T> most;
  std::string (*validate)(const T&) = nullptr;  // empty: fine

  bool check(Reader& reader, Value value, const T& found) const {
    if (validate != nullptr) {
      if (std::string message = validate(found); !message.empty()) return reader.fail(value, std::move(message));
    }
    if constexpr (std::integral<T> || Quantity<T>) {
      if (least && found < *least) return beyond(reader, value, "at least", Format<T>::write(*least));
      if (most && found > *most) return beyond(reader, value, "at most", Format<T>::write(*most));
    }
    return true;
  }
  void describe(Json& schema) const {
    if constexpr (std::integral<T>) {
      if (least) schema["minimum"] = *least;
      if (most) schema["maximum"] = *most;
    }
  }
};

template <typename T>
Limits<T> at_least(T least) {
  return {.least = least};
}
template <typename T>
Limits<T> within(T least, T most) {
  return {.least = least, .most = most};
}
template <typename T>
Limits<T> held_to(std::string (*validate)(const T&)) {
  return {.validate = validate};
}

class KeyType {
 public:
  virtual ~KeyType() = default;
  virtual bool read(Reader& reader, Value value, void* out) const = 0;
  virtual Json schema(SchemaBook& book) const = 0;
  // A value as a file would show it; nothing if a key that is left out has none.
  virtual std::optional<Json> default_of(const void* value) const = 0;
  virtual void merge(const void* from, void* into) const = 0;  // optional values only
};

template <typename T>
class KeyOf : public KeyType {
 public:
  explicit KeyOf(Limits<InnerType<T>> limits) : limits_(std::move(limits)) {}

  bool read(Reader& reader, Value value, void* out) const override {
    T& found = *static_cast<T*>(out);
    if (!Format<T>::read(reader, value, found)) return false;
    if constexpr (std::same_as<T, InnerType<T>>) {
      return limits_.check(reader, value, found);
    } else if constexpr (std::same_as<T, Tried<InnerType<T>>>) {
      return limits_.check(reader, value, found.value);
    } else {
      return limits_.check(reader, value, *found);
    }
  }
  Json schema(SchemaBook& book) const override {
    Json out = Format<T>::schema(book);
    limits_.describe(out);
    return out;
  }
  std::optional<Json> default_of(const void* value) const override {
    if constexpr (std::same_as<T, InnerType<T>>) return Format<T>::write(*static_cast<const T*>(value));
    return std::nullopt;
  }
  void merge(const void* from, void* into) const override {
    if constexpr (std::same_as<T, std::optional<InnerType<T>>>) {
      if (const T& given = *static_cast<const T*>(from)) *static_cast<T*>(into) = given;
    }
  }

 private:
  Limits<InnerType<T>> limits_;
};

// A key whose default may depend on others: the schema names none.
template <typename T>
class KeyWithoutDefault final : public KeyOf<T> {
 public:
  using KeyOf<T>::KeyOf;
  std::optional<Json> default_of(const void*) const override { return std::nullopt; }
};

}  // namespace softspine::control
