"""Hyperparameter search with Orion, one job a (dataset, split kind, model, preset).

Needs: graph and split. Makes: search/…/{trials.csv, best.yaml, plots/}. Orion's store lies beside them in
store/ and is no declared output, so a failed or killed job leaves it and the next one goes on where it stopped.
"""

SEARCHES = {search.folder: search for search in plan.searches(config)}
SEARCH = f"{R}/search/{{dataset}}/{{split_kind}}/{{model}}/{{preset}}"
PLOTS = ("parallel_coordinates", "regret", "lpi")


rule search_hyperparameters:
    """Random search on validation accuracy: trials that are in the store already are not repeated."""
    input:
        graph=f"{R}/data/{{dataset}}/graph.npz",
        split=lambda w: f"{R}/splits/{w.dataset}/{'fixed' if w.split_kind == 'fixed' else 'random00'}.json",
    output:
        trials=f"{SEARCH}/trials.csv",
        best=f"{SEARCH}/best.yaml",
        plots=expand(f"{SEARCH}/plots/{{plot}}.{{kind}}", plot=PLOTS, kind=["html", "json"], allow_missing=True),
    log:
        f"{R}/logs/search/{{dataset}}-{{split_kind}}-{{model}}-{{preset}}.log",
    benchmark:
        f"{R}/benchmarks/search/{{dataset}}-{{split_kind}}-{{model}}-{{preset}}.tsv"
    priority: 20  # trainings wait for it
    conda:
        "../../environment.yml"
    threads: JOBS["search_workers"]
    resources:
        **GPU,
        mem_mb=lambda w, attempt: memory(w, attempt) * JOBS["search_workers"],
        runtime=lambda w, attempt: 3 * runtime(w, attempt),
    params:
        arguments=search_arguments,
        settings=search_settings,
        code=lambda w: training_fingerprint(w.model, preset(w.preset)),
        search=code_fingerprint("cgnn.search"),
    message:
        "search {wildcards.model} on {wildcards.dataset}, {wildcards.split_kind} split, {wildcards.preset}"
    shell:
        "python -m cgnn search {params.arguments} --graph {input.graph} --split-file {input.split}"
        f" --workers {{threads}} --device {JOBS['device']} --expect-fingerprint {{params.code}}"
        " --store $(dirname {output.best})/store --trials-out {output.trials} --best-out {output.best}"
        f" --plots $(dirname {{output.best}})/plots --plotlyjs {R}/search/plotly.min.js {LOGGED}"


rule searches:
    """All searches that some training follows."""
    input:
        expand(f"{R}/{{folder}}/best.yaml", folder=SEARCHES),
