#pragma once
// Messages between the judge and an OpenCL compiler process. The process first says hello (an empty message, or an
// error), then answers each request with one reply.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/artifact.hpp"
#include "worker/message.hpp"

namespace kerf::opencl {

struct BuildRequest {
  std::string source;   ///< prelude and candidate
  std::string options;  ///< of clBuildProgram
};

struct BuildReply {
  bool built = false;
  std::string log;  ///< the driver's words, as they are
  std::string binary;
  std::string listing;  ///< readable device code where the driver gives it (PTX)
  StaticFacts facts;
};

std::string encode(const BuildRequest& request);
std::string encode(const BuildReply& reply);
Result<BuildRequest> decode_request(std::string_view bytes);
Result<BuildReply> decode_reply(std::string_view bytes);

}  // namespace kerf::opencl
