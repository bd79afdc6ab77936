# SPDX-License-Identifier: Apache-2.0
"""Keys of testbed files, from the JSON Schema that `softspine check --schema` prints."""
from __future__ import annotations

import json
import re

UNITS = {'ps': 'a time', 'bps': 'a rate', 'mm': 'a length', 'B': 'a size', '%': 'a share'}
TABLE = re.compile(r'[A-Z][A-Z0-9_]+')  # SONiC's are in capitals


def title_of(name: str) -> str:
    return name if TABLE.fullmatch(name) else name.replace('_', ' ')


def anchor_of(name: str) -> str:
    return re.sub(r'[^\w\- ]', '', title_of(name).lower()).replace(' ', '-')


def page_of(name: str) -> str:
    return 'config_db.md' if TABLE.fullmatch(name) and not name.startswith('SWITCH_HASH') else 'testbed.md'


def link_to(reference: str, page: str) -> str:
    name = reference.rsplit('/', 1)[1]
    return f'[{title_of(name)}]({"" if page_of(name) == page else page_of(name)}#{anchor_of(name)})'


def value_text(value: object) -> str:
    return '`' + (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)) + '`'


def limits(schema: dict) -> str:
    low, high = schema.get('minimum'), schema.get('maximum')
    if high is not None:
        return f', {low or 0} to {high}'
    return f', at least {low}' if low else ''


def quantity(schema: dict) -> str:
    units = re.search(r'\(([^()]*)\)\$$', schema['pattern'])
    words = units[1].split('|') if units else []
    kind = UNITS.get(words[0], 'text') if words else 'text'
    example = ', '.join(f'`{it}`' for it in schema.get('examples', []))
    if kind == 'text':
        return f'text, such as {example}' if example else 'text'
    return f'{kind} in {", ".join(words)}' + (f', such as {example}' if example else '')


def kind_of(schema: dict, page: str) -> str:
    """What may stand there, in words."""
    if '$ref' in schema:
        return link_to(schema['$ref'], page)
    for choice in ('oneOf', 'anyOf'):
        if choice in schema:
            return ' or '.join(dict.fromkeys(kind_of(it, page) for it in schema[choice]))
    if 'const' in schema:
        return value_text(schema['const'])
    if 'enum' in schema:
        return ', '.join(dict.fromkeys(value_text(it) for it in schema['enum']))
    kinds = schema.get('type', [])
    if kinds == 'array':
        return 'a list of: ' + kind_of(schema.get('items', {}), page)
    if kinds == 'object':
        return 'a map of names to: ' + kind_of(schema.get('additionalProperties', {}), page)
    if kinds == 'boolean':
        return '`true` or `false`'
    if 'integer' in kinds:
        return 'a whole number' + limits(schema)
    if 'pattern' in schema:
        return quantity(schema)
    if 'number' in kinds and 'string' not in kinds:
        return 'a number' + limits(schema)
    example = ', '.join(f'`{it}`' for it in schema.get('examples', []))
    return f'text, such as {example}' if example else 'text'


def cell(text: str) -> str:
    return text.replace('|', '\\|')


def default_of(key: str, schema: dict, definition: dict) -> str:
    if key in definition.get('required', []):
        return 'needed'
    if any(key in choice.get('required', []) and key != 'size' for choice in definition.get('anyOf', [])):
        return 'needed without `size`'
    if 'default' not in schema or schema['default'] in ({}, [], ''):
        return ''
    return value_text(schema['default'])


def table_of(definition: dict, page: str, wanted=lambda key: True) -> str:
    rows = ['| key | is | may be | by itself |', '|---|---|---|---|']
    for key, schema in definition.get('properties', {}).items():
        if wanted(key):
            rows.append(f'| `{key}` | {cell(schema.get("description", ""))} | {cell(kind_of(schema, page))} | {cell(default_of(key, schema, definition))} |')
    return '\n'.join(rows) + '\n'


def section(name: str, definition: dict, page: str, wanted=lambda key: True) -> str:
    return f'\n## {title_of(name)}\n\n{definition.get("description", "")}\n\n{table_of(definition, page, wanted)}'


def definitions(program) -> dict:
    return json.loads(program('check', '--schema'))['$defs']


def testbed(program) -> str:
    found = definitions(program)
    text = ('# Testbed files: every key\n\nHow such a file is written: [testbeds.md](../testbeds.md). A key that is not here is an error, and so is a quantity without its '
            "unit. SONiC's tables in a profile are in [config_db.md](config_db.md).\n")
    for name, definition in found.items():
        if page_of(name) == 'testbed.md':
            text += section(name, definition, 'testbed.md', lambda key, name=name: name != 'profile' or page_of(key) == 'testbed.md')
    return text


def config_db(program) -> str:
    found = definitions(program)
    text = ("# SONiC's tables\n\nA profile of a testbed file has these tables, and a `config_db.json` that it names has them, too. In a testbed file quantities have "
            'units; in a `config_db.json` they are bare, as SONiC has them. What they do: [lossless.md](../lossless.md).\n')
    text += section('tables', {**found['profile'], 'description': 'What a profile may have beside the keys of [profile](testbed.md#profile).'}, 'config_db.md',
                    lambda key: page_of(key) == 'config_db.md')
    for name, definition in found.items():
        if page_of(name) == 'config_db.md':
            text += section(name, definition, 'config_db.md')
    return text
