# JupyterLab with the course, for learners. CPU by default; see docs/docker.md for a GPU.
ARG PYTHON_VERSION=3.12

# No layer of the image that learners get has hidden cases.
FROM python:${PYTHON_VERSION}-slim-bookworm AS public
COPY graders/course /course
RUN rm /course/*/hidden.py

FROM python:${PYTHON_VERSION}-slim-bookworm

# TORCH names the build: torch==2.13.0+cpu with TORCH_INDEX set, or torch==2.15.0 for a GPU.
ARG TORCH=torch==2.15.0
ARG TORCH_INDEX=""

# Triton builds a small launcher with the C compiler the first time it meets a GPU.
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc=4:12.2.0-3 libc6-dev=2.36-* \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 1000 learner
WORKDIR /opt/tilewise
COPY pyproject.toml constraints.txt README.md LICENSE LICENSE-lessons ./
COPY triton_util triton_util
COPY graders/__init__.py graders/quick_jsonschema.py graders/
COPY graders/cli graders/cli
COPY graders/judge graders/judge
COPY --from=public /course graders/course
# The constraints file pins all that TORCH does not.
# hadolint ignore=DL3013
RUN python -m pip install --no-cache-dir ${TORCH_INDEX:+--extra-index-url} ${TORCH_INDEX} "${TORCH}" \
    && python -m pip install --no-cache-dir --constraint constraints.txt '.[lab]'
COPY lessons/*.ipynb /opt/lessons/
COPY docker/lab-entrypoint.sh /usr/local/bin/lab-entrypoint

USER 1000
WORKDIR /home/learner
EXPOSE 8888
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8888/api')"]
ENTRYPOINT ["lab-entrypoint"]
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--port=8888", "--no-browser"]
