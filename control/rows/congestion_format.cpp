// SPDX-License-Identifier: Apache-2.0
#include "control/rows/congestion_format.hpp"

#include <charconv>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "dataplane/congestion/algorithms.hpp"

namespace softspine::control {

using dataplane::CongestionAlgorithms;
using dataplane::CongestionParameters;
using dataplane::Fraction;

namespace {

constexpr std::string_view kNoneWord = "none";
constexpr uint32_t kLargest = 1'000'000'000;

std::optional<uint32_t> digits(std::string_view text) {
  uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool good = error == std::errc{} && end == text.data() + text.size() && out <= kLargest;
  return good ? std::optional(out) : std::nullopt;
}

std::optional<Fraction> decimal(std::string_view text) {
  const size_t point = text.find('.');
  const std::string_view behind = point == std::string_view::npos ? "" : text.substr(point + 1);
  const auto whole = digits(text.substr(0, point));
  const auto part = behind.empty() ? std::optional(0U) : digits(behind);
  if (!whole || !part || *whole > 1 || behind.size() > 9 || (point != std::string_view::npos && behind.empty()))
    return std::nullopt;
  uint32_t scale = 1;
  for (size_t i = 0; i < behind.size(); ++i) scale *= 10;
  return Fraction{*whole * scale + *part, scale};
}

// A set's parameters as a row of the file: what does not stand there is the set's.
template <typename Algorithm, size_t Set>
struct SetRow : Algorithm::Parameters {
  SetRow() : Algorithm::Parameters(Algorithm::kSets[Set].parameters) {}
};

}  // namespace

template <typename Algorithm, size_t Set>
struct Tables<SetRow<Algorithm, Set>> {
  using Row = SetRow<Algorithm, Set>;

  static const Table<Row>& table() {
    static const Table<Row> table = make();
    return table;
  }

 private:
  template <typename P, typename T>
  static void declare(Table<Row>& table, const dataplane::ParameterKey<P, T>& it) {
    table.optional(it.key, static_cast<T Row::*>(it.member), it.help, Limits<T>{.least = it.least, .most = it.most});
  }
  static Table<Row> make() {
    const auto& set = Algorithm::kSets[Set];
    Table<Row> table(set.word, set.help);
    table.chosen_by("kind", set.word);
    std::apply([&](const auto&... keys) { (declare(table, keys), ...); }, Algorithm::kKeys);
    table.check([](Reader& reader, Value at, const Row& row) {
      const auto conflict = Algorithm::conflict(row);
      return !conflict || reader.fail(at.child(conflict->key), std::string(conflict->message));
    });
    return table;
  }
};

namespace {

// each.operator()<SetRow>() for every set of every algorithm.
template <typename Each>
void for_each_set(Each&& each) {
  CongestionAlgorithms::for_each([&]<typename Algorithm>() {
    [&]<size_t... Sets>(std::index_sequence<Sets...>) {
      (each.template operator()<SetRow<Algorithm, Sets>, typename Algorithm::Parameters>(), ...);
    }(std::make_index_sequence<Algorithm::kSets.size()>());
  });
}

std::vector<std::string_view> words(bool with_none) {
  std::vector<std::string_view> out;
  if (with_none) out.push_back(kNoneWord);
  for_each_set([&]<typename Row, typename Parameters>() { out.push_back(Tables<Row>::table().choice()); });
  return out;
}

std::string listed_words(const std::vector<std::string_view>& all) {
  std::string out;
  for (const std::string_view word : all) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

bool unknown_word(Reader& reader, Value value, const std::vector<std::string_view>& known) {
  if (value.kind() != ValueKind::kScalar) return reader.wrong_type(value, "one of " + listed_words(known));
  const std::string guess = reader.guess(value.text(), known);
  return reader.fail(value, shown(value.text()) + " is not one of " + listed_words(known) + guess);
}

}  // namespace

std::optional<Fraction> WordTraits<Fraction>::parse(std::string_view text) {
  const size_t slash = text.find('/');
  std::optional<Fraction> out;
  if (slash == std::string_view::npos) {
    out = decimal(text);
  } else {
    const auto part = digits(text.substr(0, slash));
    const auto whole = digits(text.substr(slash + 1));
    if (part && whole) out = Fraction{*part, *whole};
  }
  if (!out || out->part == 0 || out->part > out->whole) return std::nullopt;
  const uint32_t common = std::gcd(out->part, out->whole);
  return Fraction{out->part / common, out->whole / common};
}
std::string WordTraits<Fraction>::print(const Fraction& fraction) {
  return std::to_string(fraction.part) + "/" + std::to_string(fraction.whole);
}

bool Format<CongestionParameters>::read(Reader& reader, Value value, CongestionParameters& out) {
  const bool is_map = value.kind() == ValueKind::kMap;
  const std::optional<Value> word = is_map ? entry(value, "kind") : value;
  if (!word) return reader.fail(value, "the key 'kind' is missing (" + listed_words(words(false)) + ")");
  const bool is_word = word->kind() == ValueKind::kScalar;
  if (!is_map && is_word && word->text() == kNoneWord) return true;
  bool found = false;
  bool good = true;
  for_each_set([&]<typename Row, typename Parameters>() {
    if (found || !is_word || word->text() != Tables<Row>::table().choice()) return;
    found = true;
    Row row;
    if (is_map) good = Tables<Row>::table().read(reader, value, row);
    out = static_cast<const Parameters&>(row);
  });
  return found ? good : unknown_word(reader, *word, words(!is_map));
}

Json Format<CongestionParameters>::schema(SchemaBook& book) {
  Json kinds = Json::array({{{"enum", words(true)}}});
  for_each_set([&]<typename Row, typename Parameters>() { kinds.push_back(Tables<Row>::table().schema(book)); });
  return {{"anyOf", kinds}};
}

Json Format<CongestionParameters>::write(const CongestionParameters& parameters) {
  std::string_view word = kNoneWord;
  for_each_set([&]<typename Row, typename Parameters>() {
    const auto* own = std::get_if<Parameters>(&parameters);
    if (own != nullptr && *own == static_cast<const Parameters&>(Row{})) word = Tables<Row>::table().choice();
  });
  return word;
}

}  // namespace softspine::control
