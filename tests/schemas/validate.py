#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""validate SCHEMA NAME < JSON - says how the JSON differs from the schema, a line each; NAME begins the lines.

Closed: a field that the schema does not have is a difference, too. (The schemas that are installed are open: fields may be added.)
Exit status: 0 as the schema says, 1 not, 2 the schema itself is wrong.
"""
import json
import sys

import jsonschema


def close(schema):
    if isinstance(schema, list):
        for part in schema:
            close(part)
    elif isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            close(part)


def leaves(error):
    """The errors of the alternative that comes nearest, where there are several."""
    if not error.context:
        return [error]
    last = {}
    for inner in error.context:
        last.setdefault(inner.schema_path[0], []).append(inner)
    best = min(last.values(), key=lambda errors: (errors[0].validator == "type", len(errors)))
    return [leaf for inner in best for leaf in leaves(inner)]


def main():
    path, name = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        print(f"{path}: {error.message}")
        return 2
    close(schema)
    status = 0
    for error in jsonschema.Draft202012Validator(schema).iter_errors(json.load(sys.stdin)):
        for leaf in leaves(error):
            where = "/".join(str(part) for part in leaf.absolute_path) or "(the whole)"
            print(f"{name}: {where}: {leaf.message[:200]}")
            status = 1
    return status


sys.exit(main())
