#!/bin/sh
# Give the learner a copy of each lesson that is not there yet; never overwrite one that is.
set -eu
lessons=${TILEWISE_LESSONS:-/opt/lessons}
work=${TILEWISE_WORK:-$HOME/my_lessons}
mkdir -p "$work"
for lesson in "$lessons"/*.ipynb; do
    [ -e "$work/$(basename "$lesson")" ] || cp "$lesson" "$work/"
done
exec "$@"
