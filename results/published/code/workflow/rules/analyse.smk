"""From rows to numbers: aggregates, the summary by cell, the verdicts on the paper's claims.

Needs: every job's rows. Makes: runs.csv, sweeps.csv, fidelity.csv, profiles.csv, trials.csv, convergence.csv,
summary.csv, claims.json.
"""

from cgnn.render.catalogue import CLAIMS_INPUTS, ELSEWHERE, VERB_MODULES

REPORTED = "paper/reported.yaml"
COLLECTED = {
    "runs": chunk_files("runs"),
    "sweeps": chunk_files("sweeps"),
    "fidelity": chunk_files("fidelity"),
    "profiles": [f"{R}/{file}" for file in PROFILES],
    "trials": [f"{R}/{folder}/trials.csv" for folder in SEARCHES],
}
CURVES = [f"{R}/{folder}.csv" for folder in trainings("curves")]
ALPHA = [f"{R}/alpha/{t.dataset}.npz" for t in trainings("curves").values() if t.model == "cgnn"]

# What this config makes, by the names of cgnn/render/catalogue.py. A section left empty makes nothing, and the
# tables and figures that need it are left out.
PRODUCTS = {name: f"{R}/{name}.csv" for name, files in COLLECTED.items() if files}
PRODUCTS |= {"convergence": f"{R}/convergence.csv", "claims": f"{R}/claims.json", "reported": REPORTED}
PRODUCTS |= {"curves": CURVES} if CURVES else {}
PRODUCTS |= {"alpha": ALPHA} if ALPHA else {}
# `make bench` is no part of the DAG: without it the speed table says so, and C11 is judged on the profiles.
PRODUCTS |= {"bench": ELSEWHERE["bench"]} if Path(ELSEWHERE["bench"]).is_file() else {}


localrules:
    collect_rows,
    summarise_runs,
    judge_claims,


rule collect_rows:
    """Concatenate the rows of many jobs; refuses rows whose code or data do not belong together."""
    input:
        lambda w: COLLECTED[w.aggregate],
    output:
        rows=f"{R}/{{aggregate}}.csv",
    log:
        f"{R}/logs/collect/{{aggregate}}.log",
    wildcard_constraints:
        aggregate="|".join(COLLECTED),
    conda:
        "../../environment.yml"
    params:
        kind=lambda w: w.aggregate if w.aggregate in ("profiles", "trials") else "runs",
        code=code_fingerprint("cgnn.collect"),
    message:
        "collect {wildcards.aggregate}"
    shell:
        f"python -m cgnn collect {{params.kind}} {{input}} --out {{output.rows}} {LOGGED}"


rule measure_convergence:
    """How H(t) approaches the fixed points of Propositions 2 and 4, on a piece of a real graph."""
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
        code=lambda w: code_fingerprint("cgnn.verbs.convergence", *VERB_MODULES["convergence"]),
    message:
        "measure the convergence to the fixed point"
    shell:
        f"python -m cgnn convergence --graph {{input.graph}} --out {{output.points}} {LOGGED}"


rule summarise_runs:
    """Mean, deviation and interval of each cell, and its difference to the paper's value."""
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
        code=lambda w: code_fingerprint("cgnn.verbs.summarise", *VERB_MODULES["summarise"]),
    message:
        "summarise the runs"
    shell:
        f"python -m cgnn summarise --runs {{input.runs}} --reported {{input.reported}} --out {{output.summary}} {LOGGED}"


rule judge_claims:
    """Claims C1 to C13 of the paper: reproduced, partly, not reproduced, or not testable here."""
    input:
        **{name: PRODUCTS[name] for name in (*CLAIMS_INPUTS, "reported") if name in PRODUCTS},
    output:
        claims=f"{R}/claims.json",
    log:
        f"{R}/logs/claims.log",
    conda:
        "../../environment.yml"
    params:
        arguments=lambda w, input: " ".join(f"--{name} {path}" for name, path in input.items()),
        code=lambda w: code_fingerprint("cgnn.verbs.claims", *VERB_MODULES["claims"]),
    message:
        "judge the paper's claims"
    shell:
        "python -m cgnn claims {params.arguments} --out {output.claims} > {log} 2>&1"


rule numbers:
    """The aggregates, the summary and the claims."""
    input:
        [PRODUCTS[name] for name in (*COLLECTED, "claims", "convergence") if name in PRODUCTS],
        f"{R}/summary.csv",
