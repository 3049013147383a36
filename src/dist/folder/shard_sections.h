/// A frame and a shard to and from their files. Private to shard_files.
#pragma once

#include <string>

#include "dist/learn/sharded_model.h"
#include "store/model_file.h"

namespace leveret::dist {

/// Saved atomically; numbers that are not finite are refused, as for a model.
void write_frame(const Frame& frame, const Plan& plan, const std::string& path);
void write_part(const Part& part, const Plan& plan, const std::string& path);

/// Into a new model of the frame's spec: namespaces, plan, shapes, and what is everywhere.
void read_frame(const store::ModelFile& file, ShardedModel& model);
/// Into a part that has its shapes.
void read_part(const store::ModelFile& file, Part& part);

}  // namespace leveret::dist
