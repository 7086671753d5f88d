// Declares has_unknown_fields(): whether a message has fields that our schema does not describe.
#pragma once

#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <vector>

namespace testlog_test {

inline bool has_unknown_fields(google::protobuf::Message const& message) {
  auto const* const reflection = message.GetReflection();
  if (!reflection->GetUnknownFields(message).empty()) return true;
  std::vector<google::protobuf::FieldDescriptor const*> fields;
  reflection->ListFields(message, &fields);
  for (auto const* const field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated() && has_unknown_fields(reflection->GetMessage(message, field))) return true;
    for (int i = 0; field->is_repeated() && i < reflection->FieldSize(message, field); ++i) {
      if (has_unknown_fields(reflection->GetRepeatedMessage(message, field, i))) return true;
    }
  }
  return false;
}

}  // namespace testlog_test
