"""JupyterHub for a class on one machine. compose.yaml says where each setting comes from.

Learners have a server of their own; instructors find the class (JupyterLab with formgrader, in
the grader's container) under Services, or at /services/class. The accounts are the ones of
`tilewise course hub`: put your institution's authenticator in the place of ClassAccounts if it
gives everybody the name that stands in the roster.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from class_hub import ClassAccounts, Limited, gpu_roles, gpu_service, make_home, open_exchange

c = get_config()  # type: ignore[name-defined]  # noqa: F821

SETTINGS = os.environ
EXCHANGE = Path(SETTINGS["TILEWISE_EXCHANGE"])
LEARNER_CONFIG = (
    SETTINGS["CLASS_LEARNER_CONFIG"],  # learner/ of the class: its course id
    str(Path(__file__).parent / "learner_lab"),  # of nbgrader's pages only the assignments
)

c.JupyterHub.bind_url = SETTINGS.get("HUB_ADDRESS", "http://:8000")
c.JupyterHub.hub_bind_url = SETTINGS.get("HUB_INNER_ADDRESS", "http://0.0.0.0:8081")
c.JupyterHub.hub_connect_url = SETTINGS.get("HUB_CONNECT_ADDRESS", "http://hub:8081")
c.JupyterHub.db_url = SETTINGS["HUB_DATABASE"]
c.JupyterHub.cookie_secret_file = SETTINGS["HUB_COOKIE_SECRET"]

c.JupyterHub.authenticator_class = ClassAccounts
c.ClassAccounts.path = SETTINGS["CLASS_ACCOUNTS"]
c.ClassAccounts.allow_all = True  # of those who have an account of the class

c.JupyterHub.spawner_class = Limited
c.Spawner.pre_spawn_hook = make_home
c.Spawner.cmd = ["lab-entrypoint", "jupyterhub-singleuser"]
c.Spawner.default_url = "/lab/tree/my_lessons/00_tour.ipynb"
c.Spawner.http_timeout = 180  # seconds: a whole class may log in at once
c.Spawner.start_timeout = 240
c.Spawner.environment = {
    "TILEWISE_LESSONS": SETTINGS.get("TILEWISE_LESSONS", "/opt/lessons"),
    "TILEWISE_EXCHANGE": str(EXCHANGE),  # learner/nbgrader_config.py reads it
    "JUPYTER_CONFIG_PATH": os.pathsep.join(LEARNER_CONFIG),
}
c.Spawner.mem_limit = SETTINGS.get("LEARNER_MEMORY", "4G")
c.Limited.threads = int(SETTINGS.get("LEARNER_THREADS", "512"))

# The class itself runs where its folder is, and not here: no learner shares a machine with the
# solutions. Only instructors, who are admins of the hub, may open it.
c.JupyterHub.services = [
    {
        "name": "class",
        "url": SETTINGS.get("CLASS_ADDRESS", "http://grader:9999"),
        "api_token": SETTINGS["CLASS_TOKEN"],
        "oauth_no_confirm": True,
    }
]

# compose.serve.yaml: the class's GPU, which every learner may ask.
if "GPU_TOKEN" in SETTINGS:
    c.JupyterHub.services.append(gpu_service(SETTINGS["GPU_ADDRESS"], SETTINGS["GPU_TOKEN"]))
    c.JupyterHub.load_roles = gpu_roles()
    c.Spawner.environment["TILEWISE_GPU"] = f"{SETTINGS['GPU_ADDRESS']}/services/gpu/"

open_exchange(
    EXCHANGE,
    SETTINGS["COURSE_ID"],
    int(SETTINGS["CLASS_UID"]),
    int(SETTINGS["CLASS_GID"]),
)
