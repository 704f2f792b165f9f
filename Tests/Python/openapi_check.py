"""Says what is missing or untrue in OpenAPI documents, one line for each fault; silence means that they are whole.

Reads {name: document} as JSON from standard input. Whether the documents say what the programs do is schemathesis' to
find out; this is about documents that can be used: every operation with schemas, errors, and examples that are valid.
"""

import json
import sys
from collections import Counter

from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator

METHODS = {"get", "put", "post", "delete", "patch", "head", "options"}
PROBLEM = "application/problem+json"


class Document:
    def __init__(self, name, document):
        self.name = name
        self.document = document
        self.faults = []

    def fault(self, place, words):
        self.faults.append(f"{self.name}: {place}: {words}")

    def resolved(self, value):
        while "$ref" in value:
            target = self.document
            for part in value["$ref"].removeprefix("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            value = {**target, **{key: words for key, words in value.items() if key != "$ref"}}
        return value

    def check(self):
        for error in OpenAPIV31SpecValidator(self.document).iter_errors():
            self.fault("/".join(map(str, error.absolute_path)), error.message)
        if self.faults:
            return self.faults
        shapes = Counter()
        self.tags = {tag["name"] for tag in self.document.get("tags", [])}
        for path, item in self.document["paths"].items():
            shapes["/".join("{}" if part.startswith("{") else part for part in path.split("/"))] += 1
            for method in METHODS & item.keys():
                Operation(self, method, path, item).check()
        for name, schema in self.document.get("components", {}).get("schemas", {}).items():
            self.check_examples(f"schema {name}", schema, schema.get("examples", []))
        self.faults += [f"{self.name}: {count} paths look like {path}" for path, count in shapes.items() if count > 1]
        return self.faults

    def check_examples(self, place, schema, examples):
        # Where references lead, they lead from the document's own root.
        whole = {**schema, "components": self.document.get("components", {})}
        validator = Draft202012Validator(whole, format_checker=FormatChecker())
        for example in examples:
            for error in validator.iter_errors(example):
                at = "".join(f".{part}" for part in error.absolute_path)
                self.fault(place, f"its example{at} is not valid: {error.message}")


class Operation:
    def __init__(self, document, method, path, item):
        self.document = document
        self.place = f"{method.upper()} {path}"
        self.path = path
        self.raw = item[method]
        parameters = item.get("parameters", []) + self.raw.get("parameters", [])
        self.parameters = [document.resolved(parameter) for parameter in parameters]
        self.responses = {status: document.resolved(one) for status, one in self.raw.get("responses", {}).items()}
        self.body = document.resolved(self.raw["requestBody"]) if "requestBody" in self.raw else None
        security = self.raw.get("security", document.document.get("security", []))
        self.schemes = {name for one in security for name in one}

    def fault(self, words):
        self.document.fault(self.place, words)

    def check(self):
        for name in ["operationId", "summary", "tags"]:
            if not self.raw.get(name):
                self.fault(f"has no {name}")
        for tag in set(self.raw.get("tags", [])) - self.document.tags:
            self.fault(f"its tag {tag} is not described")
        for parameter in self.parameters:
            self.check_content(f"parameter {parameter['name']}", parameter, parameter.get("required", False))
        if self.body is not None:
            for kind, content in self.body["content"].items():
                self.check_content(f"body {kind}", content, True)
        for status, response in self.responses.items():
            self.check_response(status, response)
        for status, why in self.expected():
            if status not in self.responses:
                self.fault(f"has no {status}: {why}")

    def check_content(self, what, content, needs_example):
        if "schema" not in content:
            return self.fault(f"{what} has no schema")
        examples = [content["example"]] if "example" in content else []
        for example in content.get("examples", {}).values():
            examples.append(self.document.resolved(example).get("value"))
        schema = self.document.resolved(content["schema"])
        if needs_example and not examples and not schema.get("examples"):
            self.fault(f"{what} has no example")
        self.document.check_examples(f"{self.place}: {what}", content["schema"], examples)

    def check_response(self, status, response):
        if not response.get("description"):
            self.fault(f"{status} has no description")
        for name, header in response.get("headers", {}).items():
            if "schema" not in self.document.resolved(header):
                self.fault(f"{status} header {name} has no schema")
        contents = response.get("content", {})
        if not contents and status[0] != "3" and status not in ("101", "202", "204", "default"):
            self.fault(f"{status} has no content")
        for kind, content in contents.items():
            self.check_content(f"{status} {kind}", content, status[0] == "2" or kind == PROBLEM)
        if status[0] in "45" and not {PROBLEM, "text/html"} & contents.keys() and not self.path.endswith(
            ("/health", "/ready", "/status", "/websocket")
        ):
            self.fault(f"{status} is no {PROBLEM}")
        headers = {name.lower() for name in response.get("headers", {})}
        if status == "401" and "www-authenticate" not in headers:
            self.fault("401 has no WWW-Authenticate")
        if status in ("429", "503") and contents.keys() == {PROBLEM} and "retry-after" not in headers:
            self.fault(f"{status} has no Retry-After")

    def expected(self):
        """The errors that follow from what an operation takes."""
        if not any(status[0] in "23" or status == "101" for status in self.responses):
            yield "2xx", "it never succeeds"
        if self.body is not None:
            yield from [("400", "bodies can be malformed"), ("413", "and too large"), ("415", "and of another type")]
            if self.path.startswith(("/api/", "/internal/")) and "application/json" in self.body["content"]:
                yield "422", "and have fields that are not as they should be"
        if "bearer" in self.schemes:
            yield "401", "it wants a bearer"
        if "bearer" in self.schemes and "serviceKey" in self.schemes:
            yield from [("403", "a key may not be allowed to act"), ("404", "for a user who does not exist")]
        if {"serviceKey", "adminKey"} & self.schemes:
            yield "403", "it wants a key"
        if "{" in self.path:
            yield "404", "what its path names may not exist"
        names = {parameter["name"] for parameter in self.parameters}
        # Refreshing under a key has a rule of its own: the second call gets what the first one got.
        if "Idempotency-Key" in names and "refresh" not in self.raw.get("operationId", "").lower():
            yield "409", "the first call under its key may still be running"
        if self.document.name == "merged":
            yield from [("400", "the gateway refuses what is malformed"), ("429", "and what comes too often")]
        elif "Health" not in self.raw.get("tags", []):
            yield from [("500", "anything can break"), ("503", "or be away"), ("504", "or take too long")]


if __name__ == "__main__":
    faults = [fault for name, document in json.load(sys.stdin).items() for fault in Document(name, document).check()]
    print("\n".join(faults))
    sys.exit(1 if faults else 0)
