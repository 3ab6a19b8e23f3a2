"""Figure of persistent programs: which tile each of them takes in which round."""

from __future__ import annotations

from triton_util.figures.drawing import Drawing, cell, label, panel, spoken

MAX_PROGRAMS, MAX_ROUNDS = 8, 10
LEFT, WIDTH, HEIGHT = 2.6, 1.3, 0.7


def rounds(tiles: int = 10, programs: int = 4, stride: int | None = None) -> Drawing:
    """The tiles of each program, which advances by `stride`: a row for each program.

    By default the stride is the number of programs. Raises ValueError for more than 8 programs or
    10 rounds.
    """
    stride = programs if stride is None else stride
    taken = [list(range(program, tiles, stride)) for program in range(programs)]
    longest = max((len(mine) for mine in taken), default=0)
    if programs > MAX_PROGRAMS or longest > MAX_ROUNDS:
        raise ValueError(f"this picture shows at most {MAX_PROGRAMS} programs, {MAX_ROUNDS} rounds")
    width = LEFT + WIDTH * longest + 0.4
    height = 1.6 + HEIGHT * programs
    figure, axes = panel(max(5.0, 0.5 * width), 0.5 * height, max(10.0, width), height)
    label(axes, 0.2, 0.5, f"{tiles} tiles, {programs} programs", 9.5, True, "left")
    told = [tile for mine in taken for tile in mine]
    for program, mine in enumerate(taken):
        y = 1.0 + HEIGHT * program
        label(axes, LEFT - 0.2, y + HEIGHT / 2, f"program {program}", 9, align="right")
        for place in range(longest):
            x = LEFT + WIDTH * place
            if place >= len(mine):
                cell(axes, x, y, "", "idle", WIDTH, HEIGHT, 8.5)
            elif told.count(mine[place]) > 1:
                cell(axes, x, y, f"{mine[place]} twice", "wrong", WIDTH, HEIGHT, 8.5)
            else:
                cell(axes, x, y, str(mine[place]), "active", WIDTH, HEIGHT, 8.5)
    missing = [tile for tile in range(tiles) if tile not in told]
    words = f"taken by nobody: {spoken(missing)}" if missing else "each tile is taken"
    label(axes, 0.2, height - 0.25, words, 9, align="left")
    rows = "; ".join(f"program {p} takes {spoken(mine)}" for p, mine in enumerate(taken))
    return Drawing(figure, f"{tiles} tiles and {programs} programs: {rows}. In all, {words}.")
