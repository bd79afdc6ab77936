# SPDX-License-Identifier: Apache-2.0
"""Makes a C++ source of the page's files: pack.py OUT FILE…; the .html among them is /."""
from __future__ import annotations

import sys
from pathlib import Path

TYPES = {'.html': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8', '.js': 'text/javascript; charset=utf-8'}


def row(path: Path) -> str:
    name = '/' if path.suffix == '.html' else '/' + path.name
    return f'      {{.path = "{name}", .type = "{TYPES[path.suffix]}", .text = R"~~({path.read_text(encoding="utf-8")})~~"}},\n'


def main() -> None:
    out, *files = (Path(name) for name in sys.argv[1:])
    out.write_text('// Made by tools/page/pack.py.\n#include "tools/page/live_page.hpp"\n\nnamespace softspine::tools {\n\n'
                   'std::vector<control::WebFile> live_page() {\n  return {\n' + ''.join(row(path) for path in files) +
                   '  };\n}\n\n}  // namespace softspine::tools\n', encoding='utf-8')


if __name__ == '__main__':
    main()
