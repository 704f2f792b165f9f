"""Renders an overlay as `kubectl kustomize` does, for the features that deploy/kubernetes uses, and validates it.

Every object has to be valid in each version of Kubernetes since 1.29 whose schema is installed, without unknown fields.
Prints the objects as a JSON array.
"""
import copy
import functools
import json
import pathlib
import sys

import kubernetes_validate
import yaml

KNOWN = {"apiVersion", "kind", "labels", "resources", "namespace", "configMapGenerator", "images", "patches"}
CLUSTER_WIDE = {"Namespace"}


def load(folder):
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    unknown = set(kustomization) - KNOWN
    assert not unknown, f"{folder}: this check cannot render {unknown}"
    objects = []
    for name in kustomization["resources"]:
        path = folder / name
        objects += load(path) if path.is_dir() else [item for item in yaml.safe_load_all(path.read_text()) if item]
    for generator in kustomization.get("configMapGenerator", []):
        objects.append(config_map(folder, generator))
    for label in kustomization.get("labels", []):
        for item in objects:
            add_labels(item, label["pairs"], label.get("includeTemplates", False))
    for patch in kustomization.get("patches", []):
        matching = [item for item in objects if item["kind"] == patch["target"]["kind"]]
        assert matching, f"{folder}: a patch changes nothing"
        for item in matching:
            merge(item, {k: v for k, v in yaml.safe_load(patch["patch"]).items() if k != "metadata"})
    images = {image["name"]: f"{image['newName']}:{image['newTag']}" for image in kustomization.get("images", [])}
    for item in objects:
        if "namespace" in kustomization and item["kind"] not in CLUSTER_WIDE:
            item["metadata"]["namespace"] = kustomization["namespace"]
        for container in containers(item):
            container["image"] = images.get(container["image"], container["image"])
    return objects


def config_map(folder, generator):
    data = {}
    for name in generator["envs"]:
        for line in (folder / name).read_text().splitlines():
            if line and not line.startswith("#"):
                key, value = line.split("=", 1)
                data[key] = value
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": generator["name"]}, "data": data}


def template(item):
    return item.get("spec", {}).get("template") if item["kind"] in ("Deployment", "Job") else None


def containers(item):
    return template(item)["spec"]["containers"] if template(item) else []


def add_labels(item, pairs, in_templates):
    item["metadata"].setdefault("labels", {}).update(pairs)
    if in_templates and template(item):
        template(item)["metadata"]["labels"].update(pairs)


def merge(target, patch):
    for key, value in patch.items():
        if isinstance(value, dict) and isinstance(target.get(key), dict):
            merge(target[key], value)
        else:
            target[key] = copy.deepcopy(value)


def main():
    objects = load(pathlib.Path(sys.argv[1]).resolve())
    # `preStop: sleep` came with 1.29.
    versions = sorted({version for version in kubernetes_validate.utils.all_versions() if version >= "1.29"})
    # The definitions of a version are megabytes, which would otherwise be read for each object.
    kubernetes_validate.utils.schema_contents = functools.cache(kubernetes_validate.utils.schema_contents)
    for version in versions:
        for item in objects:
            kubernetes_validate.validate(item, version, strict=True)
    print(json.dumps(objects))


main()
