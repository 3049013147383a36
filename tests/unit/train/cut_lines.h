/// Lines written otherwise: their namespaces in another order, cut into pieces that lie anywhere in
/// the line, with empty ones between them. What they say is the same.
#pragma once

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace leveret::train {

struct Rewriting {
  bool shuffled = false;  ///< namespaces come in another order
  bool cut = true;        ///< in pieces; empty ones are added
};

/// A line without its label, as the namespaces that it has, in their order.
using LineParts = std::vector<std::pair<std::string, std::vector<std::string>>>;

inline LineParts parts_of(const std::string& features) {
  LineParts parts;
  std::istringstream in(features);
  for (std::string word; in >> word;) {
    if (word[0] == '|') {
      parts.push_back({word, {}});
    } else {
      parts.back().second.push_back(word);
    }
  }
  return parts;
}

/// Each piece of a namespace behind the one before it; the first ones in the order of `parts`.
inline std::string cut_line(const LineParts& parts, std::mt19937& random) {
  struct Piece {
    double at;
    std::string text;
  };
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [name, features] = parts[i];
    // Above all first pieces of namespaces behind this one, too, or not.
    auto at = static_cast<double>(i);
    for (std::size_t next = 0; next < features.size();) {
      const std::size_t take = 1 + random() % (features.size() - next);
      std::string text = " " + name;
      for (const std::size_t end = next + take; next < end; ++next) text += " " + features[next];
      if (random() % 3 == 0) text += " " + name;
      pieces.push_back({at, std::move(text)});
      at += static_cast<double>(random() % 1000) * 0.001 * static_cast<double>(parts.size());
    }
  }
  std::ranges::stable_sort(pieces, {}, &Piece::at);
  std::string line;
  for (const Piece& piece : pieces) line += piece.text + (random() % 4 == 0 ? " |empty" : "");
  return line;
}

/// Each line of `lines`, from number `first` on, otherwise.
inline std::string rewritten(const std::string& lines, Rewriting how, std::uint32_t seed,
                             std::size_t first = 0) {
  std::mt19937 random(seed);
  std::string text;
  std::istringstream in(lines);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line); ++number) {
    const std::size_t bar = std::min(line.find('|'), line.size());
    LineParts parts = parts_of(line.substr(bar));
    if (how.shuffled && number >= first) std::shuffle(parts.begin(), parts.end(), random);
    std::string features;
    if (how.cut) {
      features = cut_line(parts, random);
    } else {
      for (const auto& [name, words] : parts) {
        features += " " + name;
        for (const std::string& word : words) features += " " + word;
      }
    }
    text += line.substr(0, bar) + features + "\n";
  }
  return text;
}

}  // namespace leveret::train
