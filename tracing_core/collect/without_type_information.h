// Declares objects of classes that were compiled with -fno-rtti.
#pragma once

#include <exception>
#include <memory>

#include "tracing_core/dispatch/subscriber.h"

namespace span_trace_test {

std::exception const& error_without_type_information();
std::shared_ptr<tracing::Subscriber> subscriber_without_type_information();

}  // namespace span_trace_test
