# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of testbed files agrees with the reader, judged by python3-jsonschema.

1. What the reader takes, the schema takes: shipped testbeds, the fuzz corpus, and thousands of changes to them.
2. What is wrong with a file's shape (unknown, missing or mistyped keys), both refuse.
3. What the schema calls a key's default can stand in the file.
Names, addresses and whatever hangs together only the reader knows: there the schema may take what it refuses.
"""
from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import yaml

READER = sys.argv[1]
ROOT = Path(sys.argv[2])


class Core(yaml.SafeLoader):
    """YAML 1.2's core schema, as the reader has it: no sexagesimal numbers, no `yes`, no dates."""


Core.yaml_implicit_resolvers = {}
for tag, pattern, first in [('bool', r'true|false', 'tf'), ('null', r'~|null|', '~n\0'), ('int', r'-?[0-9]+', '-0123456789'),
                            ('float', r'-?[0-9]+\.[0-9]+', '-0123456789')]:
    Core.add_implicit_resolver(f'tag:yaml.org,2002:{tag}', re.compile(f'^(?:{pattern})$'), list(first) + ([''] if tag == 'null' else []))
Core.add_constructor('tag:yaml.org,2002:int', lambda loader, node: int(node.value, 10))


def as_json(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    return [as_json(item) for item in value] if isinstance(value, list) else value


def read(path: Path) -> object:
    return as_json(yaml.load(path.read_text(), Core))


def places(value: object, way: tuple = ()) -> list[tuple]:
    """Ways to every key and item."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    return [place for key, item in entries for place in [way + (key,), *places(item, way + (key,))]]


def changed(document: object, way: tuple, change) -> object:
    """Shares with the document what is not on the way."""
    out = copy.copy(document)
    holder = out
    for key in way[:-1]:
        holder[key] = copy.copy(holder[key])
        holder = holder[key]
    change(holder, way[-1])
    return out


def put(value: object):
    def change(holder, key):
        holder[key] = value
    return change


def rename(holder, key):
    holder[key + 'x'] = holder.pop(key)


def remove(holder, key):
    del holder[key]


OTHER_VALUES = [None, True, 'true', 5, '5', 0, -1, 2.5, 10**30, 'zzz', '', '1MiB', '2ms', '5 Gbps', '+3m', '7%', [], {}, ['h1'],
                ['1', '2'], {'a': 1}, {'1': 2}]

LEAST_DEFAULTS = 60  # of 151


def with_a_memory():
    """jsonschema's validator; of documents that differ in one place it looks once at the other places."""
    ordinary = jsonschema.Draft202012Validator
    wrong: dict[tuple[str, str], tuple[str, tuple] | None] = {}  # what, and where, by definition and value

    def reference(validator, ref, instance, schema):
        key = (ref, repr(instance))
        if key not in wrong:
            error = next(ordinary.VALIDATORS['$ref'](validator, ref, instance, schema), None)
            wrong[key] = None if error is None else (error.message, tuple(error.path))
        if wrong[key] is not None:
            yield jsonschema.ValidationError(wrong[key][0], path=wrong[key][1])
    return jsonschema.validators.extend(ordinary, {'$ref': reference})


class Comparison:
    def __init__(self) -> None:
        schema = json.loads(subprocess.run([READER, '--schema'], check=True, capture_output=True, text=True).stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        self.validator = with_a_memory()(schema)
        self.failures: list[str] = []
        self.given: set[tuple[int, str]] = set()  # keys of tables, with their defaults
        self.counts = {'both take': 0, 'both refuse': 0, 'only the reader refuses': 0}

    def reader_says(self, documents: list[object]) -> list[str]:
        text = ''.join(json.dumps(document) + '\n' for document in documents)
        out = subprocess.run([READER], cwd=ROOT / 'testbeds', input=text, check=True, capture_output=True, text=True).stdout.splitlines()
        assert len(out) == len(documents)
        return out

    def compare(self, documents: list[object], expected: bool | None, what: str) -> None:
        """`expected`: what both must say; None: the schema may take more than the reader."""
        for document, said in zip(documents, self.reader_says(documents)):
            error = next(self.validator.iter_errors(document), None)
            reader_takes, schema_takes = said == 'good', error is None
            if expected is None:
                bad = reader_takes and not schema_takes
            else:
                bad = (reader_takes, schema_takes) != (expected, expected)
            key = 'both take' if reader_takes else 'only the reader refuses' if schema_takes else 'both refuse'
            self.counts[key] += 1
            if bad:
                where = '' if error is None else f'; schema: {error.json_path}: {error.message[:200]}'
                self.failures.append(f'{what}: reader: {said}{where}\n  {json.dumps(document)[:600]}')


    def with_defaults(self, document: object, schema: dict | None = None, way: tuple = ()) -> list[object]:
        """The document with one key more, for each key that is left out, has a default, and was not given it before."""
        schema = self.validator.schema if schema is None else schema
        here = document
        for key in way:
            here = here[key]
        if '$ref' in schema:
            return self.with_defaults(document, self.validator.schema['$defs'][schema['$ref'].split('/')[-1]], way)
        found = []
        for each in [*schema.get('anyOf', []), *schema.get('oneOf', [])]:
            if self.validator.evolve(schema={**each, '$defs': self.validator.schema['$defs']}).is_valid(here):
                found += self.with_defaults(document, each, way)
        if isinstance(here, list):
            return found + [one for i in range(len(here)) for one in self.with_defaults(document, schema.get('items', {}), (*way, i))]
        if not isinstance(here, dict):
            return found
        properties = schema.get('properties', {})
        for key, it in properties.items():
            if 'default' in it and key not in here and (id(properties), key) not in self.given:
                self.given.add((id(properties), key))
                found.append(changed(document, (*way, key), put(it['default'])))
        rest = schema.get('additionalProperties')
        for key in here:
            inner = properties.get(key, rest if isinstance(rest, dict) else {})
            found += self.with_defaults(document, inner, (*way, key))
        return found


def main() -> int:
    shipped = {path: read(path) for path in sorted((ROOT / 'testbeds').glob('**/*.yaml'))}
    corpus = {path: read(path) for path in sorted((ROOT / 'tests/fuzz/corpus/testbed_file').glob('*.yaml'))
              if path.stem not in ('mistakes', 'aliases')}
    assert shipped and corpus
    comparison = Comparison()
    for path, document in [*shipped.items(), *corpus.items()]:
        comparison.compare([document], True, path.name)
    for path, document in corpus.items():
        ways = places(document)
        keys = [way for way in ways if isinstance(way[-1], str)]
        comparison.compare([changed(document, way, put(value)) for way in ways for value in OTHER_VALUES], None, f'{path.name} changed')
        comparison.compare([changed(document, way, rename) for way in keys], None, f'{path.name} renamed')
        comparison.compare([changed(document, way, remove) for way in ways], None, f'{path.name} shortened')

    defaults = [one for document in [*shipped.values(), *corpus.values()] for one in comparison.with_defaults(document)]
    assert len(defaults) > LEAST_DEFAULTS, len(defaults)
    comparison.compare(defaults, True, 'default')

    base = read(ROOT / 'tests/fuzz/corpus/testbed_file/every_table.yaml')
    shapes = [changed(base, way, change) for way, change in [
        (('nmae',), put('x')), (('name',), remove), (('name',), put([])), (('run', 'sede'), put(1)),
        (('run', 'duration'), put(20)), (('run', 'duration'), put('20')), (('run', 'duration'), put('20m')),
        (('run', 'workers'), put(0)), (('run', 'seed'), put(-1)), (('run', 'clock'), put('moon')),
        (('fabric', 'kind'), put('leafspine')), (('fabric', 'kind'), remove), (('fabric', 'tors'), remove),
        (('fabric', 'k'), put(4)), (('fabric', 'host_link', 'rate'), put(100)), (('fabric', 'host_link', 'rate'), remove),
        (('profiles', 'default', 'hash', 'fields', 0), put('SRCIP')), (('profiles', 'a b'), put({})),
        (('profiles', 'other', 'DSCP_TO_TC_MAP', 'AZURE', '3'), put(8)),
        (('profiles', 'other', 'DSCP_TO_TC_MAP', 'AZURE', 'x'), put(1)),
        (('topology', 'nodes', 'x', 'kind'), put('router')), (('topology', 'links', 0, 'rate'), remove),
        (('topology', 'links', 0, 'endpoints'), put('tor1')), (('workload', 0, 'pattern'), remove),
        (('workload', 0, 'dscp'), put(64)), (('workload', 0, 'from'), put({})), (('faults', 0, 'set'), put('sideways')),
        (('faults', 0, 'at'), remove), (('expect', 0, 'value'), remove), (('expect', 0, 'at_most'), put([])),
        (('expect',), put({})), (('workload',), put(None))]]
    comparison.compare(shapes, False, 'wrong shape')

    print(', '.join(f'{what}: {count}' for what, count in comparison.counts.items()))
    for failure in comparison.failures[:20]:
        print(failure)
    if comparison.failures:
        print(f'{len(comparison.failures)} documents are judged differently')
    return 1 if comparison.failures else 0


sys.exit(main())
