# The judge with solutions and hidden cases, for instructors. Run it read-only and without a
# network: docker run --rm --read-only --network none --cap-drop ALL
#   --security-opt no-new-privileges --tmpfs /tmp --volume ./course:/course IMAGE ...
ARG PYTHON_VERSION=3.12
FROM python:${PYTHON_VERSION}-slim-bookworm

ARG TORCH=torch==2.15.0
ARG TORCH_INDEX=""

RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc=4:12.2.0-3 libc6-dev=2.36-* libseccomp2=2.5.4-* \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 1001 grader
WORKDIR /opt/tilewise
COPY . .
# The constraints file pins all that TORCH does not.
# hadolint ignore=DL3013
RUN python -m pip install --no-cache-dir ${TORCH_INDEX:+--extra-index-url} ${TORCH_INDEX} "${TORCH}" \
    && python -m pip install --no-cache-dir --constraint constraints.txt --editable '.[instructor,hub]'

USER 1001
ENV TRITON_CACHE_DIR=/tmp/triton HOME=/tmp
WORKDIR /course
ENTRYPOINT ["tilewise"]
CMD ["doctor"]
