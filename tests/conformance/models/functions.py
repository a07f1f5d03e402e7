"""Names that inputs of a task cannot have, as the program tells its bridge: the functions of docs/expressions.md."""

import os
import re

_PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "expressions.md")
with open(_PAGE, encoding="utf-8") as _stream:
    FUNCTIONS = re.findall(r"^\| `(\w+)\(", _stream.read(), re.M)
