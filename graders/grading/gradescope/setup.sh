#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image of the autograder.
set -euo pipefail

source=/autograder/source/tilewise
apt-get update
apt-get install -y --no-install-recommends ca-certificates gcc libc6-dev libseccomp2 python3-venv

# uv also installs a Python that is new enough, whatever the image has
python3 -m venv /autograder/uv
/autograder/uv/bin/pip install --no-cache-dir "$(grep '^uv==' "$source/constraints.txt")"
/autograder/uv/bin/uv venv --python 3.12 /autograder/venv
/autograder/uv/bin/uv pip install --no-cache --python /autograder/venv/bin/python \
    --torch-backend cpu --constraint "$source/constraints.txt" \
    "$(cat /autograder/source/torch.txt)" --editable "$source[instructor]"

cd "$source" && /autograder/venv/bin/python -m graders.cli.main doctor || true # for the build log
