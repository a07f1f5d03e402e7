#include "language/opencl_c/compile_protocol.hpp"

namespace kerf::opencl {
namespace {

void put(worker::Writer& writer, const std::vector<std::string>& texts) {
  writer.put<std::uint64_t>(texts.size());
  for (const auto& text : texts) writer.text(text);
}

std::vector<std::string> get_texts(worker::Reader& reader) {
  std::vector<std::string> texts(reader.count());
  for (auto& text : texts) text = reader.text();
  return texts;
}

}  // namespace

std::string encode(const BuildRequest& request) {
  return worker::Writer().text(request.source).text(request.options).bytes();
}

Result<BuildRequest> decode_request(std::string_view bytes) {
  worker::Reader reader(bytes);
  BuildRequest request;
  request.source = reader.text();
  request.options = reader.text();
  if (!reader.ok()) return fail(Errc::tool_failed, "a malformed build request");
  return request;
}

std::string encode(const BuildReply& reply) {
  worker::Writer writer;
  writer.put<std::uint8_t>(reply.built).text(reply.log).text(reply.binary).text(reply.listing);
  put(writer, reply.facts.writable_globals);
  put(writer, reply.facts.forbidden_symbols);
  put(writer, reply.facts.constructors);
  writer.put<std::uint64_t>(reply.facts.kernels.size());
  for (const auto& kernel : reply.facts.kernels) {
    writer.text(kernel.name)
        .put(kernel.registers)
        .put(kernel.shared_bytes)
        .put(kernel.local_bytes)
        .put(kernel.max_threads);
  }
  return writer.bytes();
}

Result<BuildReply> decode_reply(std::string_view bytes) {
  worker::Reader reader(bytes);
  BuildReply reply;
  reply.built = reader.get<std::uint8_t>() != 0;
  reply.log = reader.text();
  reply.binary = reader.text();
  reply.listing = reader.text();
  reply.facts.writable_globals = get_texts(reader);
  reply.facts.forbidden_symbols = get_texts(reader);
  reply.facts.constructors = get_texts(reader);
  reply.facts.kernels.resize(reader.count());
  for (auto& kernel : reply.facts.kernels) {
    kernel.name = reader.text();
    kernel.registers = reader.get<int>();
    kernel.shared_bytes = reader.get<std::int64_t>();
    kernel.local_bytes = reader.get<std::int64_t>();
    kernel.max_threads = reader.get<int>();
  }
  if (!reader.ok()) return fail(Errc::tool_failed, "a malformed answer of the compiler process");
  return reply;
}

}  // namespace kerf::opencl
