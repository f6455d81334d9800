# SPDX-License-Identifier: Apache-2.0
"""Bills of what was compiled, from its certificate.

    python3 -m tosac_check.bills CERTIFICATE.json --bom BOM.json [--licence SPDX]     CycloneDX 1.6 with a model card (ML-BOM)
    python3 -m tosac_check.bills CERTIFICATE.json --attest STATEMENT.json             an in-toto statement (SLSA provenance), not signed

Nothing is added to the certificate but --licence, which the model's owner states: the formats that models come in do not.  The same certificate
gives the same bytes: there is no time in them, and the serial number is made of its hash.
"""

from __future__ import annotations

import argparse
import json
import sys
import uuid
from pathlib import Path

from .certificate import record_of, sha256
from .stream import Bad

WRITTEN = "the written program beside the model"


def hashes(part: dict) -> dict:
    return {"hashes": [{"alg": "SHA-256", "content": part["sha256"]}]} if "sha256" in part else {}


def metrics(record: dict) -> list[dict]:
    """Accuracy of each output against the model, as the compiler measured it."""
    found = []
    for check in record["checks"]:
        if check["check"] != WRITTEN:
            continue
        on = f"output {check['output']}, {check['elements']} elements of {check['samples']} samples"
        for name, unit in (("sqnr_db", "SQNR in dB"), ("agreement", "share of equal elements"), ("steps", "largest difference in steps")):
            if check.get(name) is not None:
                found.append({"type": f"{unit} against the model", "value": f"{check[name]:g}", "slice": on})
        if check["promise"] == "bit-exact":
            found.append({"type": "equal to the model", "value": "bit-exact", "slice": on})
    return found


def datasets(record: dict) -> list[dict]:
    data = record.get("data")
    if not data:
        return []
    words = f"{', '.join(data['from']) or 'from memory'}: {data['samples']} samples, SHA-256 {data['sha256']}"
    return [{"type": "dataset", "name": "calibration data" + (" (invented)" if data["invented"] else ""), "contents": {"attachment": {"content": words}}}]


def card(record: dict) -> dict:
    ports = lambda kind: [{"format": f"{p.get('name', kind[:-1])}: {p['type']}"} for p in record[kind]]
    return {
        "modelParameters": {"datasets": datasets(record), "inputs": ports("inputs"), "outputs": ports("outputs")},
        "quantitativeAnalysis": {"performanceMetrics": metrics(record)},
        "considerations": {"technicalLimitations": [f"not checked: {words}" for words in record["not_checked"]]},
    }


def bom(record: dict, digest: str, licence: str | None) -> dict:
    model, settings = record["model"], record["settings"]
    compiled = {
        "type": "machine-learning-model", "bom-ref": "compiled", "name": model["name"], "description": f"compiled for {record['target']}",
        "modelCard": card(record),
        "properties": [{"name": "tosac:target", "value": record["target"]}, {"name": "tosac:quantization", "value": settings["quantization"]["name"]},
                       {"name": "tosac:certificate:sha256", "value": digest}],
    }
    source = {"type": "machine-learning-model", "bom-ref": "model", "name": model["name"], **hashes(model)}
    if licence:
        for part in (compiled, source):
            part["licenses"] = [{"expression": licence}]
    files = [{"type": "file", "bom-ref": f"file-{i}", "name": f.get("name", f"output {i}"), **hashes(f)} for i, f in enumerate(record["output"])]
    tool = {"type": "application", "name": record["tool"]["name"], "version": record["tool"]["version"], **hashes(record["tool"])}
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}", "version": 1,
        "metadata": {"tools": {"components": [tool]}, "component": compiled},
        "components": [source, *files],
        "dependencies": [{"ref": "compiled", "dependsOn": ["model", *(f["bom-ref"] for f in files)]}],
    }


def statement(record: dict, digest: str) -> dict:
    resource = lambda name, part: {"name": name, "digest": {"sha256": part["sha256"]}}
    sources = [resource(record["model"]["name"], record["model"])]
    sources += [resource("calibration data", record["data"])] if "data" in record else []
    beside = [resource(name, record[name]) for name in ("program", "samples")]
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [resource(f.get("name", f"output {i}"), f) for i, f in enumerate(record["output"])],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {"buildType": "urn:tosac:compile", "externalParameters": {"target": record["target"], "settings": record["settings"]},
                                "resolvedDependencies": sources},
            "runDetails": {"builder": {"id": f"urn:tosac:{record['tool']['version']}:{record['tool'].get('sha256', 'unknown')}"},
                           "byproducts": [{"name": "certificate", "digest": {"sha256": digest}}, *beside]},
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="tosac_check.bills", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("certificate", type=Path)
    parser.add_argument("--bom", type=Path)
    parser.add_argument("--attest", type=Path)
    parser.add_argument("--licence")
    args = parser.parse_args()
    try:
        data = args.certificate.read_bytes()
        record, digest = record_of(data), sha256(data)
        for path, made in ((args.bom, lambda: bom(record, digest, args.licence)), (args.attest, lambda: statement(record, digest))):
            if path:
                path.write_text(json.dumps(made(), indent=1) + "\n")
    except (OSError, ValueError, KeyError, Bad) as error:
        print(f"tosac_check.bills: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
