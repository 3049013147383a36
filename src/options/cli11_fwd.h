/// The names of CLI11 that our headers use. Reading all of CLI11 takes a compiler seconds: only
/// files that add options include <CLI/CLI.hpp>.
#pragma once

namespace CLI {

class App;
class Option;
class ParseError;
class Validator;

}  // namespace CLI
