"""From rows to numbers: aggregates, the summary by cell, the verdicts on the paper's claims.

Needs: the rows of every job. Makes: runs.csv, sweeps.csv, fidelity.csv, profiles.csv, trials.csv, convergence.csv,
summary.csv, bench.json, claims.json.
"""


localrules:
    collect_rows,
    copy_bench,
    summarise_runs,
    judge_claims,


rule collect_rows:
    """Concatenate the rows of many jobs; refuse damaged rows and rows that do not belong together."""
    input:
        lambda w: OUT.collected[w.aggregate],
    output:
        rows=f"{R}/{{aggregate}}.{{kind}}",
    log:
        f"{R}/logs/collect/{{aggregate}}.{{kind}}.log",
    wildcard_constraints:
        aggregate="|".join(OUT.collected),
        kind="csv|npz",
    conda:
        "../../environment.yml"
    params:
        kind=lambda w: "runs" if w.aggregate in ("sweeps", "fidelity") else w.aggregate,
        splits=f"{config['results']}/splits",
        code=provenance.command_fingerprint("collect"),
    message:
        "collect {wildcards.aggregate}"
    shell:
        f"python -m cgnn collect {{params.kind}} {{input:q}} --splits {{params.splits:q}} --out {{output.rows:q}} {LOGGED}"


rule measure_convergence:
    """Compute how H(t) approaches the fixed points of Propositions 2 and 4, on a part of a real graph."""
    input:
        graph=f"{R}/data/{'cora' if 'cora' in DATASETS else DATASETS[0]}/graph.npz",
    output:
        points=f"{R}/convergence.csv",
    log:
        f"{R}/logs/convergence.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2000,
        runtime=15,
    params:
        code=provenance.command_fingerprint("convergence"),
    message:
        "measure the convergence to the fixed point"
    shell:
        f"python -m cgnn convergence --graph {{input.graph:q}} --out {{output.points:q}} {LOGGED}"


rule copy_bench:
    """Copy the results of `make bench`, which is not part of the workflow, to the results that use them."""
    input:
        BENCH,
    output:
        bench=f"{R}/bench.json",
    log:
        f"{R}/logs/bench.log",
    conda:
        "../../environment.yml"
    message:
        "copy the benchmark's results"
    shell:
        "cp {input:q} {output.bench:q} 2> {log:q}"


rule summarise_runs:
    """Compute mean, deviation and interval of each cell, and its difference from the paper's value."""
    input:
        runs=f"{R}/runs.csv",
        reported=REPORTED,
    output:
        summary=f"{R}/summary.csv",
    log:
        f"{R}/logs/summary.log",
    conda:
        "../../environment.yml"
    params:
        code=provenance.command_fingerprint("summarise"),
    message:
        "summarise the runs"
    shell:
        "python -m cgnn summarise --runs {input.runs:q} --reported {input.reported:q}"
        f" --out {{output.summary:q}} {LOGGED}"


rule judge_claims:
    """Judge the claims of the paper; each has a verdict and evidence."""
    input:
        unpack(lambda w: OUT.claims_inputs),
    output:
        claims=f"{R}/claims.json",
    log:
        f"{R}/logs/claims.log",
    conda:
        "../../environment.yml"
    params:
        arguments=product_arguments,
        code=provenance.command_fingerprint("claims"),
    message:
        "judge the paper's claims"
    shell:
        "python -m cgnn claims {params.arguments} --out {output.claims:q} > {log:q} 2>&1"
