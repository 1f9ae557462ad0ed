"""What a reader looks at: tables, figures, the PDF and the scorecard.

Needs: the aggregates, paper/reported.yaml, paper/paper.typ. Makes: tables/, figures/, paper.pdf, index.html.
"""

from cgnn.render.catalogue import (
    FIGURE_FORMATS,
    FIGURES,
    TABLE_FORMATS,
    TABLES,
    VERB_FILES,
    modules_of_figure,
    modules_of_table,
)

DATASETS_TABLE = [f"{R}/tables/datasets.{kind}" for kind in ("csv", "md", "tex")]
TABLE_FILES = [f"{R}/tables/{name}.{kind}" for name in made_here(TABLES) for kind in TABLE_FORMATS]
FIGURE_FILES = [f"{R}/figures/{name}.{kind}" for name in made_here(FIGURES) for kind in FIGURE_FORMATS]


localrules:
    tabulate_datasets,
    build_table,
    draw_figure,
    compile_paper,
    write_scorecard,


rule tabulate_datasets:
    """Table 1: the paper's numbers beside ours, with the reason where they differ."""
    input:
        graphs=expand(f"{R}/data/{{dataset}}/graph.npz", dataset=DATASETS),
        reported=REPORTED,
    output:
        report(
            DATASETS_TABLE,
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "Table 1: datasets"},
        ),
    log:
        f"{R}/logs/tables/datasets.log",
    conda:
        "../../environment.yml"
    params:
        code=lambda w: code_fingerprint("cgnn.verbs.datasets_table"),
    message:
        "build table datasets"
    shell:
        "python -m cgnn datasets_table --graphs {input.graphs} --reported {input.reported}"
        f" --out {R}/tables/datasets {LOGGED}"


rule build_table:
    """One table of the paper, ours beside theirs, as CSV, Markdown, LaTeX and JSON."""
    input:
        unpack(lambda w: product_input(TABLES[w.table])),
    output:
        report(
            expand(f"{R}/tables/{{{{table}}}}.{{kind}}", kind=[k for k in TABLE_FORMATS if k != "json"]),
            caption="../report/table.rst",
            category="Tables",
            labels=lambda w: {"table": TABLES[w.table].label},
        ),
        f"{R}/tables/{{table}}.json",
    log:
        f"{R}/logs/tables/{{table}}.log",
    wildcard_constraints:
        table="|".join(TABLES),
    conda:
        "../../environment.yml"
    params:
        arguments=product_arguments,
        code=lambda w: code_fingerprint("cgnn.verbs.table", *modules_of_table(w.table)),
    message:
        "build table {wildcards.table}"
    shell:
        "python -m cgnn table {wildcards.table} {params.arguments}"
        f" --out {R}/tables/{{wildcards.table}} > {{log}} 2>&1"


rule draw_figure:
    """One figure as PDF, SVG and PNG, with its caption as JSON."""
    input:
        unpack(lambda w: product_input(FIGURES[w.figure])),
    output:
        report(
            f"{R}/figures/{{figure}}.svg",
            caption="../report/figure.rst",
            category="Figures",
            labels=lambda w: {"figure": FIGURES[w.figure].label},
        ),
        expand(f"{R}/figures/{{{{figure}}}}.{{kind}}", kind=[k for k in FIGURE_FORMATS if k != "svg"]),
    log:
        f"{R}/logs/figures/{{figure}}.log",
    wildcard_constraints:
        figure="|".join(FIGURES),
    conda:
        "../../environment.yml"
    params:
        arguments=product_arguments,
        code=lambda w: code_fingerprint("cgnn.verbs.figure", *modules_of_figure(w.figure)),
    message:
        "draw figure {wildcards.figure}"
    shell:
        "python -m cgnn figure {wildcards.figure} {params.arguments}"
        f" --out {R}/figures/{{wildcards.figure}} > {{log}} 2>&1"


rule compile_paper:
    """The rebuilt paper as a PDF: every number in it comes from the results."""
    input:
        DATASETS_TABLE,
        TABLE_FILES,
        FIGURE_FILES,
        [PRODUCTS[name] for name in (*COLLECTED, "claims") if name in PRODUCTS],
        f"{R}/summary.csv",
        source="paper/paper.typ",
        reported=REPORTED,
    output:
        pdf=report(
            f"{R}/paper.pdf",
            caption="../report/paper.rst",
            category="Paper",
            labels={"what": "the rebuilt paper"},
        ),
        data=f"{R}/paper_data.json",
    log:
        f"{R}/logs/paper.log",
    conda:
        "../../environment.yml"
    params:
        code=lambda w: code_fingerprint("cgnn.verbs.paper", *VERB_MODULES["paper"]),
    message:
        "compile the paper"
    shell:
        f"python -m cgnn paper --results {R} --source {{input.source}} --reported {{input.reported}}"
        " --out {output.pdf} > {log} 2>&1"


rule write_scorecard:
    """One self-contained page: claims, tables down to their rows, figures, search plots."""
    input:
        DATASETS_TABLE,
        TABLE_FILES,
        FIGURE_FILES,
        [PRODUCTS[name] for name in (*COLLECTED, "claims") if name in PRODUCTS],
        VERB_FILES["scorecard"],
        reported=REPORTED,
    output:
        page=report(
            f"{R}/index.html",
            caption="../report/scorecard.rst",
            category="Paper",
            labels={"what": "scorecard"},
        ),
    log:
        f"{R}/logs/scorecard.log",
    conda:
        "../../environment.yml"
    params:
        code=lambda w: code_fingerprint("cgnn.verbs.scorecard", *VERB_MODULES["scorecard"]),
    message:
        "write the scorecard"
    shell:
        f"python -m cgnn scorecard --results {R} --reported {{input.reported}} --out {{output.page}} > {{log}} 2>&1"


rule tables:
    """All tables."""
    input:
        DATASETS_TABLE,
        TABLE_FILES,


rule figures:
    """All figures."""
    input:
        FIGURE_FILES,


rule report:
    """The PDF and the scorecard."""
    input:
        f"{R}/paper.pdf",
        f"{R}/index.html",
