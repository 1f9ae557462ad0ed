"""Tables, figures, the PDF and the page.

Needs: the aggregates, paper/reported.yaml, paper/paper.typ. Makes: tables/, figures/, paper.pdf, index.html.
"""


localrules:
    build_table,
    draw_figure,
    compile_paper,
    write_scorecard,


rule build_table:
    """Write one table with our numbers next to the paper's, as CSV, Markdown, LaTeX and JSON."""
    input:
        unpack(lambda w: OUT.inputs(TABLES[w.table])),
    output:
        report(
            f"{R}/tables/{{table}}.csv",
            caption="../report/table.rst",
            category="2. Tables",
            labels=lambda w: {"table": f"{[*TABLES].index(w.table) + 1:02d} {TABLES[w.table].label}"},
        ),
        [f"{R}/tables/{{table}}.{kind}" for kind in TABLE_FORMATS if kind not in ("csv", "json")],
        json=f"{R}/tables/{{table}}.json",
    log:
        f"{R}/logs/tables/{{table}}.log",
    wildcard_constraints:
        table="|".join(TABLES),
    conda:
        "../../environment.yml"
    params:
        arguments=product_arguments,
        code=lambda w: provenance.command_fingerprint("table", TABLES[w.table].module),
    message:
        "build table {wildcards.table}"
    shell:
        "out={output.json:q}; python -m cgnn table {wildcards.table} {params.arguments}"
        ' --out "${{out%.json}}" > {log:q} 2>&1'


rule draw_figure:
    """Draw one figure as PDF, SVG and PNG, with its caption as JSON."""
    input:
        unpack(lambda w: OUT.inputs(FIGURES[w.figure])),
    output:
        report(
            f"{R}/figures/{{figure}}.svg",
            caption="../report/figure.rst",
            category=lambda w: "4. Search" if w.figure == "search" else "3. Figures",
            labels=lambda w: {"figure": f"{[*FIGURES].index(w.figure) + 1:02d} {FIGURES[w.figure].label}"},
        ),
        [f"{R}/figures/{{figure}}.{kind}" for kind in FIGURE_FORMATS if kind not in ("svg", "json")],
        json=f"{R}/figures/{{figure}}.json",
    log:
        f"{R}/logs/figures/{{figure}}.log",
    wildcard_constraints:
        figure="|".join(FIGURES),
    conda:
        "../../environment.yml"
    params:
        arguments=product_arguments,
        code=lambda w: provenance.command_fingerprint("figure", FIGURES[w.figure].module),
    message:
        "draw figure {wildcards.figure}"
    shell:
        "out={output.json:q}; python -m cgnn figure {wildcards.figure} {params.arguments}"
        ' --out "${{out%.json}}" > {log:q} 2>&1'


rule compile_paper:
    """Compile the reproduced paper as a PDF; every number in it comes from the results."""
    input:
        lambda w: [*OUT.table_files, *OUT.figure_files, *OUT.numbers],
        source="paper/paper.typ",
        findings="paper/findings.md.jinja",
        reported=REPORTED,
    output:
        pdf=report(
            f"{R}/paper.pdf",
            caption="../report/paper.rst",
            category="1. Paper",
            labels={"what": "the reproduced paper"},
        ),
        data=f"{R}/paper_data.json",
    log:
        f"{R}/logs/paper.log",
    conda:
        "../../environment.yml"
    params:
        results=lambda w, output: os.path.dirname(output.pdf),
        code=provenance.command_fingerprint("paper"),
    message:
        "compile the paper"
    shell:
        "python -m cgnn paper --results {params.results:q} --source {input.source:q} --reported {input.reported:q}"
        " --out {output.pdf:q} > {log:q} 2>&1"


rule write_scorecard:
    """Write one self-contained page: claims, tables with their rows, figures, search plots."""
    input:
        lambda w: [*OUT.table_files, *OUT.figure_files, *OUT.numbers],
        [*PAGE_FILES, "CITATION.cff"],
        reported=REPORTED,
    output:
        page=report(
            f"{R}/index.html",
            caption="../report/scorecard.rst",
            category="1. Paper",
            labels={"what": "scorecard"},
        ),
    log:
        f"{R}/logs/scorecard.log",
    conda:
        "../../environment.yml"
    params:
        results=lambda w, output: os.path.dirname(output.page),
        code=provenance.command_fingerprint("scorecard"),
    message:
        "write the scorecard"
    shell:
        "python -m cgnn scorecard --results {params.results:q} --reported {input.reported:q}"
        " --out {output.page:q} > {log:q} 2>&1"
