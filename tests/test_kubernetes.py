"""The manifests of docker/kubernetes, without a cluster: their structure, and what they promise.

Where the package kubernetes-validate is installed (100 MB of schemas), each is held against
Kubernetes' own schema as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).parents[1] / "docker" / "kubernetes"
VERSIONS = {
    "Deployment": "apps/v1",
    "Service": "v1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "Job": "batch/v1",
    "ResourceFlavor": "kueue.x-k8s.io/v1beta1",
    "ClusterQueue": "kueue.x-k8s.io/v1beta1",
    "LocalQueue": "kueue.x-k8s.io/v1beta1",
}
POD = {
    *("automountServiceAccountToken", "containers", "restartPolicy", "securityContext", "volumes"),
}
CONTAINER = {
    *("args", "command", "env", "image", "name", "ports", "readinessProbe", "resources"),
    *("securityContext", "volumeMounts"),
}


def manifests() -> list[dict[str, Any]]:
    files = (FOLDER / name for name in ("service.yaml", "gpu-workers.yaml"))
    return [item for file in files for item in yaml.safe_load_all(file.read_text())]


def of(kind: str) -> Iterator[dict[str, Any]]:
    return (item for item in manifests() if item["kind"] == kind)


def pods() -> list[tuple[str, dict[str, Any], dict[str, str]]]:
    """(name, the pod's spec, its labels) of all that runs."""
    found = []
    for item in (*of("Deployment"), *of("Job")):
        template = item["spec"]["template"]
        name = item["metadata"].get("name") or item["metadata"]["generateName"].rstrip("-")
        found.append((name, template["spec"], template["metadata"]["labels"]))
    return found


def test_each_manifest_is_of_a_known_kind() -> None:
    assert {item["kind"] for item in manifests()} == set(VERSIONS)
    for item in manifests():
        assert item["apiVersion"] == VERSIONS[item["kind"]], item["kind"]
        assert set(item) == {"apiVersion", "kind", "metadata", "spec"}


@pytest.mark.parametrize(("name", "pod", "labels"), pods(), ids=lambda item: str(item)[:20])
def test_a_pod_is_closed(name: str, pod: dict[str, Any], labels: dict[str, str]) -> None:
    assert labels == {"app": name}
    assert set(pod) <= POD
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    volumes = {volume["name"] for volume in pod["volumes"]}
    for container in pod["containers"]:
        assert set(container) <= CONTAINER
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert "memory" in container["resources"]["limits"]
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes


def test_selectors_meet_pods() -> None:
    labels = [label for _, _, label in pods()]
    for item in of("Service"):
        assert item["spec"]["selector"] in labels
        (port,) = item["spec"]["ports"]
        pod = next(pod for _, pod, label in pods() if label == item["spec"]["selector"])
        assert {"containerPort": port["targetPort"]} in pod["containers"][0]["ports"]
    for item in of("Deployment"):
        assert item["spec"]["selector"]["matchLabels"] in labels
        assert item["spec"]["replicas"] == 1
    for item in of("NetworkPolicy"):
        assert item["spec"]["podSelector"]["matchLabels"] in labels


def test_only_the_service_and_workers_reach_the_scheduler() -> None:
    policy = next(p for p in of("NetworkPolicy") if p["metadata"]["name"] == "tilewise-scheduler")
    (rule,) = policy["spec"]["ingress"]
    allowed = {peer["podSelector"]["matchLabels"]["app"] for peer in rule["from"]}
    assert allowed == {"tilewise-gpu", "tilewise-worker"}
    worker = next(p for p in of("NetworkPolicy") if p["metadata"]["name"] == "tilewise-worker")
    assert set(worker["spec"]["policyTypes"]) == {"Ingress", "Egress"}


def test_workers_wait_for_kueue_and_declare_their_gpu() -> None:
    (job,), (local,), (cluster,) = of("Job"), of("LocalQueue"), of("ClusterQueue")
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == local["metadata"]["name"]
    assert local["spec"]["clusterQueue"] == cluster["metadata"]["name"]
    assert job["spec"]["suspend"] is True
    (worker,) = job["spec"]["template"]["spec"]["containers"]
    assert "GPU=1" in worker["args"]
    assert worker["resources"]["limits"]["nvidia.com/gpu"] == "1"
    (group,) = cluster["spec"]["resourceGroups"]
    (flavor,) = group["flavors"]
    assert flavor["name"] == next(of("ResourceFlavor"))["metadata"]["name"]
    quota = {item["name"]: item["nominalQuota"] for item in flavor["resources"]}
    assert list(quota) == group["coveredResources"]
    assert quota["nvidia.com/gpu"] >= job["spec"]["parallelism"]
    assert quota["cpu"] >= job["spec"]["parallelism"] * int(worker["resources"]["requests"]["cpu"])


def test_the_hub_lets_learners_reach_the_service_and_keeps_no_token() -> None:
    values = yaml.safe_load((FOLDER / "hub-values.yaml").read_text())
    gpu = values["hub"]["services"]["gpu"]
    assert set(gpu) == {"url"}
    (service,) = (item for item in of("Service") if item["metadata"]["name"] == "tilewise-gpu")
    assert gpu["url"] == f"http://tilewise-gpu:{service['spec']['ports'][0]['port']}"
    for role in ("user", "server"):
        assert "access:services!service=gpu" in values["hub"]["loadRoles"][role]["scopes"]


@pytest.mark.parametrize("item", manifests(), ids=lambda item: str(item["kind"]))
def test_kubernetes_own_schema(item: dict[str, Any]) -> None:
    validate = pytest.importorskip("kubernetes_validate")
    if "kueue" in item["apiVersion"]:
        pytest.skip("a resource of Kueue, which Kubernetes' schemas lack")
    validate.validate(item, validate.latest_version(), strict=True)
