"""JupyterHub for a small class: names from the environment, the exchange shared by all."""

import os

c = get_config()  # type: ignore[name-defined]  # noqa: F821

LEARNERS = set(os.environ.get("CLASS_LEARNERS", "").split())
INSTRUCTORS = set(os.environ.get("CLASS_INSTRUCTORS", "").split())

c.JupyterHub.bind_url = "http://:8000"
c.JupyterHub.db_url = os.environ["HUB_DATABASE"]
c.JupyterHub.authenticator_class = "jupyterhub.auth.DummyAuthenticator"
# One password for the class, from a secret; put your institution's authenticator here instead.
c.DummyAuthenticator.password = os.environ["CLASS_PASSWORD"]
c.Authenticator.allowed_users = LEARNERS | INSTRUCTORS
c.Authenticator.admin_users = INSTRUCTORS
c.LocalAuthenticator.create_system_users = True

c.Spawner.default_url = "/lab/tree/my_lessons/00_tour.ipynb"
c.Spawner.cmd = ["lab-entrypoint", "jupyterhub-singleuser"]
c.Spawner.environment = {
    "TILEWISE_LESSONS": "/opt/lessons",
    "NBGRADER_COURSE_ID": "tilewise",
    "NBGRADER_EXCHANGE": "/srv/exchange",
}
c.Spawner.mem_limit = os.environ.get("LEARNER_MEMORY", "2G")
