"""Hyperparameter search with Orion, one job a (dataset, split kind, model, preset).

Needs: graph and split. Makes: search/…/{trials.csv, best.yaml, plots/}. Orion's store lies beside them in
store/ and is no declared output, so a failed or killed job leaves it and the next one goes on where it stopped.
"""

SEARCH = f"{R}/search/{{dataset}}/{{split_kind}}/{{model}}/{{preset}}"
PLOTS = ("parallel_coordinates", "regret", "lpi")


def search_arguments(wildcards):
    section, model, dataset = config["search"], wildcards.model, wildcards.dataset
    words = ["--dataset", dataset, "--split", wildcards.split_kind, "--model", model, "--preset", wildcards.preset]
    epochs = section["epochs"].get(dataset, section["epochs"]["default"])
    words += ["--seed", str(section["seed"]), "--trials", str(section["trials"]), "--epochs", str(epochs)]
    for name, prior in section["spaces"][model].items():
        words += ["--prior", f"{name}~{prior}"]
    if JOBS["memory_limit_mb"]:
        words += ["--memory-limit", str(JOBS["memory_limit_mb"])]
    return shlex.join(words)


def search_settings(wildcards):
    settings = published(wildcards.dataset, wildcards.split_kind, wildcards.model)
    return json.dumps(asdict(settings)) if settings else "none"


rule search_hyperparameters:
    """Random search on validation accuracy: trials that are in the store already are not repeated."""
    input:
        graph=f"{R}/data/{{dataset}}/graph.npz",
        split=lambda w: f"{R}/splits/{w.dataset}/{'fixed' if w.split_kind == 'fixed' else 'random00'}.json",
    output:
        trials=f"{SEARCH}/trials.csv",
        seconds=f"{SEARCH}/trials.seconds.csv",
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
        code=lambda w: provenance.model_fingerprint("search", w.model, preset(w.preset)),
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
        expand(f"{R}/{{folder}}/best.yaml", folder=OUT.searches),
