# SPDX-License-Identifier: BSD-3-Clause
# schema_check.py SCHEMA DOCUMENT: checks a JSON document against the schema; status 0 or 1. Knows
# the keywords of JSON Schema that doc/report.schema.json uses, and refuses others, so that none is
# ignored silently.
import json
import sys

KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "const", "required",
         "properties", "additionalProperties", "items", "anyOf"}
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float),
         "boolean": bool, "null": type(None)}


def is_type(value, name):
    if isinstance(value, bool) and name != "boolean":
        return False
    return isinstance(value, TYPES[name])


def check(value, schema, root, where):
    """Yields what is wrong with value."""
    unknown = set(schema) - KNOWN
    if unknown:
        yield f"{where}: the schema has words that are not checked: {sorted(unknown)}"
    if "$ref" in schema:
        yield from check(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, where)
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, name) for name in types):
        yield f"{where}: {value!r} is none of {types}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where}: {value!r} is not {schema['const']!r}"
    if "anyOf" in schema:
        if all(list(check(value, one, root, where)) for one in schema["anyOf"]):
            yield f"{where}: none of the forms fits {value!r}"
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{where}: {name} is missing"
        for name, member in value.items():
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties", True))
            if inner is False:
                yield f"{where}: {name} has no place there"
            elif inner is not True:
                yield from check(member, inner, root, f"{where}.{name}")
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from check(item, schema.get("items", {}), root, f"{where}[{i}]")


with open(sys.argv[1], encoding="utf-8") as file:
    SCHEMA = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    DOCUMENT = json.load(file)
wrong = list(check(DOCUMENT, SCHEMA, SCHEMA, "$"))
for line in wrong[:20]:
    print(line, file=sys.stderr)
sys.exit(1 if wrong else 0)
