"""A table in LaTeX with booktabs; compiles with amsmath and booktabs alone."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cgnn.render.table import Cell, Table

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": "$-$",
    "–": "--",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "<": "$<$",
    ">": "$>$",
    "→": r"$\to$",
    "½": r"$\frac12$",
    "²": "$^2$",
    "⁻": "$^-$",
    "¹": "$^1$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "σ": r"$\sigma$",
    "θ": r"$\theta$",
    "μ": r"$\mu$",
    "Â": r"$\hat{A}$",
    "′": r"$'$",
    "·": r"$\cdot$",
    "…": r"\ldots{}",
    "₁": "$_1$",
    "Δ": r"$\Delta$",
    "∞": r"$\infty$",
}


def escape(text: str) -> str:
    """Plain text as LaTeX, including the mathematical characters that the project uses."""
    return "".join(_ESCAPES.get(character, character) for character in text).replace("$$", "")


def latex_of(table: "Table") -> str:
    """A ``table`` environment; a cell of several lines is a shortstack."""
    wide = max((len(cell.text) for row in table.rows for cell in row.cells.values()), default=0) > 60
    column = "p{0.3\\linewidth}" if wide else "c"
    lines = [
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{{escape(table.caption)}}}",
        rf"\label{{tab:{table.name}}}",
        r"\small",
        rf"\begin{{tabular}}{{l{column * len(table.columns)}}}",
        r"\toprule",
        _line([escape(table.corner), *(escape(name) for name in table.columns)]),
    ]
    group: str | None = None
    for row in table.rows:
        if row.group != group:
            group = row.group
            lines.append(r"\midrule")
            if group:
                lines.append(rf"\multicolumn{{{len(table.columns) + 1}}}{{l}}{{\emph{{{escape(group)}}}}} \\")
        lines.append(_line([escape(row.label), *(_cell(row.cells.get(name), wide) for name in table.columns)]))
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\footnotesize {escape(note)}" for note in table.notes]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _cell(cell: "Cell | None", wide: bool) -> str:
    if cell is None:
        return "--"
    text = rf"\textbf{{{escape(cell.text)}}}" if cell.bold else escape(cell.text)
    if cell.missing:
        text += rf" \scriptsize({escape(cell.missing)})"
    if not cell.under:
        return text
    under = [rf"\scriptsize {escape(line)}" for line in cell.under]
    if wide:
        return r" \newline ".join([text, *under])
    return r"\shortstack{" + r" \\ ".join([text, *under]) + "}"


def _line(parts: list[str]) -> str:
    return " & ".join(parts) + r" \\"
