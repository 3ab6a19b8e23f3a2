# JupyterHub for a class: each learner's server is a process of this container in the learner's
# own account. The accounts come from the class (`tilewise course hub`), see docs/docker.md.
ARG LAB_IMAGE=tilewise-lab:latest

# The proxy asks for Node 20, and Debian 12 has Node 18.
FROM node:22-bookworm-slim AS proxy
RUN npm install --global configurable-http-proxy@5.3.0

# hadolint ignore=DL3006
FROM ${LAB_IMAGE}

# The hub starts each learner's server as that learner, so it stays root.
# hadolint ignore=DL3002
USER 0
COPY --from=proxy /usr/local/bin/node /usr/local/bin/node
COPY --from=proxy /usr/local/lib/node_modules /usr/local/lib/node_modules
WORKDIR /opt/tilewise
RUN ln -s ../lib/node_modules/configurable-http-proxy/bin/configurable-http-proxy \
        /usr/local/bin/configurable-http-proxy \
    && python -m pip install --no-cache-dir --constraint constraints.txt '.[hub]'
COPY docker/class_hub.py docker/jupyterhub_config.py /srv/hub/
COPY docker/learner_lab /srv/hub/learner_lab
RUN mkdir -p /srv/exchange /srv/hub/state && chmod 1777 /srv/exchange && chmod 700 /srv/hub/state
WORKDIR /srv/hub
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/hub/health')"]
ENTRYPOINT []
CMD ["jupyterhub", "--config", "/srv/hub/jupyterhub_config.py"]
