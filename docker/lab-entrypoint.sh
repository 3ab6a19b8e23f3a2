#!/bin/sh
set -eu
# Give the learner a copy of each lesson that is not there yet; never overwrite one that is.
lessons=${TILEWISE_LESSONS:-/opt/lessons}
work=${TILEWISE_WORK:-$HOME/my_lessons}
mkdir -p "$work"
for lesson in "$lessons"/*.ipynb; do
    [ -e "$work/$(basename "$lesson")" ] || cp "$lesson" "$work/"
done
# The course's JupyterLab extension: the button Check, and none of the buttons of instructors.
installed='import importlib.util as u; print(u.find_spec("triton_util").submodule_search_locations[0])'
JUPYTER_PATH=$(python -c "$installed")${JUPYTER_PATH:+:$JUPYTER_PATH}
export JUPYTER_PATH
exec "$@"
