# SPDX-License-Identifier: Apache-2.0
"""JSON held to a schema: the words of JSON Schema that ours use."""
KINDS = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int, "null": type(None), "boolean": bool}


def is_kind(value, kind):
    return isinstance(value, KINDS[kind]) and not (isinstance(value, bool) and kind != "boolean")


def mistakes(value, schema, at="$"):
    """What does not fit, one line each."""
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is none of {schema['enum']}"
    if "oneOf" in schema and sum(not any(mistakes(value, s, at)) for s in schema["oneOf"]) != 1:
        yield f"{at}: {value!r} is of no kind that is allowed"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_kind(value, k) for k in kinds):
        yield f"{at}: {value!r} is no {' or '.join(kinds)}"
        return
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{at}: '{name}' is missing"
        more = schema.get("additionalProperties", {})
        for name, member in value.items():
            inner = schema.get("properties", {}).get(name)
            if inner is None and more is False:
                yield f"{at}: '{name}' is not in the schema"
            elif inner is not None or more:
                yield from mistakes(member, inner if inner is not None else more, f"{at}.{name}")
    if isinstance(value, list):
        prefix = schema.get("prefixItems", [])
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{at}: {len(value)} items"
        for i, item in enumerate(value):
            yield from mistakes(item, prefix[i] if i < len(prefix) else schema.get("items", {}), f"{at}[{i}]")


def unknown(value, schema, at="$"):
    """Members that the schema does not describe."""
    if isinstance(value, dict) and "properties" in schema:
        for name, member in value.items():
            if name not in schema["properties"]:
                yield f"{at}.{name}"
            else:
                yield from unknown(member, schema["properties"][name], f"{at}.{name}")
    if isinstance(value, list):
        for item in value:
            yield from unknown(item, schema.get("items", {}), at + "[]")
