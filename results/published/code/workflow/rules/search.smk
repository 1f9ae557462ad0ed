"""Hyperparameter search with Orion, one job per (dataset, split kind, model, preset).

Needs: graph and splits. Makes: search/…/{trials.csv, trials.seconds.csv, best.yaml, plots/}. The store with the results
so far is in store/ beside them. It is no declared output, so that a failed or killed job keeps it and the next resumes.
"""

from cgnn.paper.hyperparameters import to_mapping
from cgnn.search.trials import starting_values

SEARCH = f"{R}/search/{{dataset}}/{{split_kind}}/{{model}}/{{preset}}"
PLOTS = ("parallel_coordinates", "regret", "lpi")


rule search_hyperparameters:
    """Random search on validation accuracy, in two rounds. Replicas whose results are stored are not trained again."""
    input:
        graph=f"{R}/data/{{dataset}}/graph.npz",
        splits=search_splits,
    output:
        trials=report(
            f"{SEARCH}/trials.csv",
            caption="../report/search.rst",
            category="4. Search",
            labels={"dataset": "{dataset}", "split": "{split_kind}", "model": "{model}"},
        ),
        seconds=f"{SEARCH}/trials.seconds.csv",
        best=f"{SEARCH}/best.yaml",
        plots=[f"{SEARCH}/plots/{plot}.{kind}" for plot in PLOTS for kind in ("html", "json")],
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
        **LIMITED,
        seed=config["search"]["seed"],
        trials=config["search"]["trials"],
        finalists=config["search"]["finalists"],
        replicas=config["search"]["replicas"],
        epochs=lambda w: config["search"]["epochs"].get(w.dataset, config["search"]["epochs"]["default"]),
        space=lambda w: [f"{name}~{prior}" for name, prior in config["search"]["spaces"][w.model].items()],
        limit=MEMORY_LIMIT,
        # Values of hyperparameters without a prior, so that a correction in paper/reported.yaml reruns the search.
        settings=lambda w: json.dumps(to_mapping(starting_values(w.dataset, w.split_kind, w.model))),
        code=lambda w: provenance.model_fingerprint("search", w.model, preset(w.preset)),
    message:
        "search {wildcards.model} on {wildcards.dataset}, {wildcards.split_kind} split, {wildcards.preset}"
    shell:
        "folder=$(dirname {output.best:q}); "
        "python -m cgnn search --dataset {wildcards.dataset} --split {wildcards.split_kind} --model {wildcards.model}"
        " --preset {wildcards.preset} --seed {params.seed} --trials {params.trials} --finalists {params.finalists}"
        " --replicas {params.replicas} --epochs {params.epochs} --prior {params.space:q} {params.limit}"
        " --graph {input.graph:q} --split-files {input.splits:q} --workers {threads}"
        f" --device {JOBS['device']} --expect-fingerprint {{params.code}}"
        ' --store "$folder/store" --trials-out {output.trials:q} --best-out {output.best:q}'
        f' --plots "$folder/plots" --plotlyjs "$folder/../../../../plotly.min.js" {LOGGED}'
