/// The header of a model's file: what is known of a model beside its sections.
#pragma once

#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/model.h"
#include "tape/parameters.h"

namespace leveret::modelfile {

/// The name that models have in common which can follow one another: 32 hexadecimal digits, a hash
/// of the options that fix the shape.
std::string line_of(const spec::Spec& spec);

/// The message of an error of reading a header, for people: that of a parser of JSON knows no file.
std::string header_error(const std::exception& error);

/// `shards`: what add_tables has returned.
nlohmann::ordered_json make_header(const model::Model& model, const nlohmann::ordered_json& shards);

/// Whether the header's identity is that of the spec in it, and the counts in it; these go into
/// `scalars`. std::runtime_error when not.
void read_identity(const nlohmann::ordered_json& header, const spec::Spec& spec,
                   tape::Scalars& scalars);

/// The schema in it, where it has one. std::runtime_error where that cannot be read.
void read_schema(const nlohmann::ordered_json& header, model::Model& model);

}  // namespace leveret::modelfile
