# A small JupyterHub for a class: each learner's server is a process of this container's user
# accounts, all share nbgrader's exchange. For more than some thirty learners see docs/docker.md.
ARG LAB_IMAGE=tilewise-lab:latest
# hadolint ignore=DL3006
FROM ${LAB_IMAGE}

# The hub starts each learner's server as that learner, so it stays root.
# hadolint ignore=DL3002
USER 0
WORKDIR /srv/hub
RUN apt-get update \
    && apt-get install -y --no-install-recommends nodejs=18.* npm=9.* \
    && rm -rf /var/lib/apt/lists/* \
    && npm install --global configurable-http-proxy@5.0.0 \
    && python -m pip install --no-cache-dir jupyterhub==5.4.0 nbgrader==0.9.6 'psycopg[binary]==3.3.9'
COPY docker/jupyterhub_config.py /srv/hub/
RUN mkdir -p /srv/exchange && chmod 1777 /srv/exchange
EXPOSE 8000
ENTRYPOINT []
CMD ["jupyterhub", "--config", "/srv/hub/jupyterhub_config.py"]
