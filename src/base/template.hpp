#pragma once
// Text templates, for kernels, exported code and other text that people edit.
//
//   $name  ${name}          the value of that name; $$ is a dollar sign
//   $pass.term              a field of a record
//   %if $FLAG && $KIND == sum   %elif   %else   %endif
//   %for pass in $PASSES    ...   %endfor        also sets $pass.index, $pass.first and $pass.last
//   %let NAME = text        until the file or the loop ends; "%let NAME = $OTHER" also takes lists and records
//   %include "file"         that file's lines in place of this one, as far to the right
//
// A line that is nothing but a value is left out when the value is empty; the lines of a longer value stand as far to
// the right as the first.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace kerf::templates {

/// A text, a record with named fields, or a list.
class Value {
 public:
  using Record = std::map<std::string, Value, std::less<>>;
  using List = std::vector<Value>;

  Value() = default;
  Value(std::string text) : content_(std::move(text)) {}
  Value(const char* text) : content_(std::string(text)) {}
  Value(Record record) : content_(std::move(record)) {}
  Value(List list) : content_(std::move(list)) {}

  const std::string* text() const { return std::get_if<std::string>(&content_); }
  const Record* record() const { return std::get_if<Record>(&content_); }
  const List* list() const { return std::get_if<List>(&content_); }

 private:
  std::variant<std::string, Record, List> content_;
};
using Record = Value::Record;
using List = Value::List;

/// The value of `$name`; none when the name is unknown.
using Lookup = std::function<std::optional<Value>(std::string_view name)>;
/// The text of an included file.
using Files = std::function<Result<std::string>(std::string_view file)>;

struct Environment {
  Lookup lookup;
  Files files;                 ///< none: `%include` is an error
  bool nested_values = false;  ///< values may contain `$names` themselves
};

/// The template with everything filled in. Errors begin with "file:line: ".
Result<std::string> expand(std::string_view file, std::string_view text, const Environment& environment);

/// Only the values, for texts of one line; `where` begins error messages.
Result<std::string> substitute(std::string_view where, std::string_view text, const Environment& environment);

/// Values in a table of texts.
Lookup lookup_in(std::map<std::string, std::string, std::less<>> values);

/// A template that is part of the program: an error in it is a bug of ours.
std::string fill(std::string_view file, std::string_view text, const Record& values, Files files = {});

}  // namespace kerf::templates
