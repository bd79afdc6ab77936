// SPDX-License-Identifier: Apache-2.0
#include "control/vendors/configuration_lines.hpp"

#include <algorithm>

namespace softspine::control {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string without_quotes(std::string_view word) {
  const bool is_quoted =
      word.size() >= 2 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front();
  return std::string(is_quoted ? word.substr(1, word.size() - 2) : word);
}

void add_words(std::string_view text, std::string_view separators, std::vector<std::string>& out) {
  while (out.size() < ConfigurationLine::kMaxWords) {
    const size_t first = text.find_first_not_of(separators);
    if (first == std::string_view::npos) return;
    text.remove_prefix(first);
    const size_t end = std::min(text.find_first_of(separators), text.size());
    out.push_back(without_quotes(text.substr(0, end)));
    text.remove_prefix(end);
  }
}

class Lines {
 public:
  Lines(LineSyntax syntax, const std::function<void(const ConfigurationLine&)>& take) : syntax_(syntax), take_(take) {}

  void add(std::string_view line, int number) {
    const std::string_view text = trimmed(line.substr(0, line.find('#')));
    if (text.empty() || text.front() == '!') return;
    out_ = {.number = number, .text = text, .words = {}};
    switch (syntax_) {
      case LineSyntax::kIndented: return add_indented(line.find_first_not_of(kBlanks), text);
      case LineSyntax::kBraces:
        if (text.starts_with("set ") && parents_.empty()) return add_plain(text.substr(4), kUsual);
        return add_braces(text);
      case LineSyntax::kKeyValue: return add_plain(text, " \t=");
      case LineSyntax::kPlain:
      case LineSyntax::kJson: return add_plain(text.starts_with("sudo ") ? text.substr(5) : text, kUsual);
    }
  }

 private:
  static constexpr std::string_view kUsual = " \t,";
  struct Parent {
    size_t indent = 0;
    std::vector<std::string> words;
  };

  void add_plain(std::string_view text, std::string_view separators) {
    add_words(text, separators, out_.words);
    take_(out_);
  }

  void add_indented(size_t indent, std::string_view text) {
    while (!parents_.empty() && parents_.back().indent >= indent) parents_.pop_back();
    if (parents_.size() == ConfigurationLine::kMaxDepth) return;
    Parent own{indent, {}};
    add_words(text, kUsual, own.words);
    put_parents();
    add_words(text, kUsual, out_.words);
    take_(out_);
    parents_.push_back(std::move(own));
  }

  void put_parents() {
    out_.words.clear();
    for (const Parent& parent : parents_) {
      for (const std::string& word : parent.words) {
        if (out_.words.size() < ConfigurationLine::kMaxWords) out_.words.push_back(word);
      }
    }
  }

  // One line may open, close and end several statements.
  void add_braces(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find_first_of("{};");
      const std::string_view statement = trimmed(text.substr(0, end));
      const char ended_by = end == std::string_view::npos ? ';' : text[end];
      if (ended_by == '{')
        open(statement);
      else if (!statement.empty() && too_deep_ == 0)
        add_statement(statement);
      if (ended_by == '}') close();
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }
  void add_statement(std::string_view statement) {
    put_parents();
    add_words(statement, kUsual, out_.words);
    take_(out_);
  }
  void open(std::string_view statement) {
    if (too_deep_ > 0 || parents_.size() == ConfigurationLine::kMaxDepth) {
      ++too_deep_;
      return;
    }
    Parent parent;
    add_words(statement, kUsual, parent.words);
    parents_.push_back(std::move(parent));
  }
  void close() {
    if (too_deep_ > 0) {
      --too_deep_;
    } else if (!parents_.empty()) {
      parents_.pop_back();
    }
  }

  LineSyntax syntax_;
  const std::function<void(const ConfigurationLine&)>& take_;
  std::vector<Parent> parents_;
  size_t too_deep_ = 0;  // braces that were opened beyond kMaxDepth
  ConfigurationLine out_;
};

}  // namespace

void for_each_line(std::string_view text, LineSyntax syntax,
                   const std::function<void(const ConfigurationLine&)>& take) {
  Lines lines(syntax, take);
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.add(text.substr(0, end), number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

size_t begins_with(const ConfigurationLine& line, std::string_view words) {
  size_t taken = 0;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    if (taken == line.words.size()) return 0;
    const std::string& own = line.words[taken];
    const bool fits = word == "*" || own == word || (word.ends_with('.') && own.starts_with(word));
    if (!fits) return 0;
    ++taken;
  }
  return taken;
}

}  // namespace softspine::control
