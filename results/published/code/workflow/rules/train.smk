"""The trainings behind Tables 2 and 3, the residual GCN's, and the runs whose curves are kept.

Needs: graphs, splits, and best.yaml where hyperparameters are searched. Makes: one CSV a job, a row a replica,
named by the replicas it holds: more seeds later are new files beside the old ones.
"""

RUN = "runs/{dataset}/{split_kind}/{model}/{preset}/{source}"
RESIDUAL = "residual/{dataset}/{split_kind}/{layers}"


rule train_model:
    """Replicas first … last of one cell of Tables 2 and 3."""
    input:
        unpack(lambda w: training_input(find_training("runs", RUN.format(**w)), w.first, w.last)),
    output:
        rows=f"{R}/{RUN}/{{first}}-{{last}}.csv",
        seconds=f"{R}/{RUN}/{{first}}-{{last}}.seconds.csv",
    log:
        f"{R}/logs/train/{{dataset}}-{{split_kind}}-{{model}}-{{preset}}-{{source}}-{{first}}-{{last}}.log",
    benchmark:
        f"{R}/benchmarks/train/{{dataset}}-{{split_kind}}-{{model}}-{{preset}}-{{source}}-{{first}}-{{last}}.tsv"
    priority: 10
    conda:
        "../../environment.yml"
    threads: JOBS["threads"]
    resources:
        **GPU,
        mem_mb=memory,
        runtime=runtime,
    params:
        arguments=lambda w: training_arguments(find_training("runs", RUN.format(**w))),
        settings=lambda w: training_settings(find_training("runs", RUN.format(**w))),
        code=lambda w: training_code(find_training("runs", RUN.format(**w))),
    message:
        "train {wildcards.model} on {wildcards.dataset}, {wildcards.split_kind} split, {wildcards.preset}, {wildcards.source} hyperparameters, replicas {wildcards.first} to {wildcards.last}"
    shell:
        TRAIN_CHUNK


rule train_residual:
    """The appendix's GCN with residual links, by number of layers."""
    input:
        unpack(lambda w: training_input(find_training("residual", RESIDUAL.format(**w)), w.first, w.last)),
    output:
        rows=f"{R}/{RESIDUAL}/{{first}}-{{last}}.csv",
        seconds=f"{R}/{RESIDUAL}/{{first}}-{{last}}.seconds.csv",
    log:
        f"{R}/logs/residual/{{dataset}}-{{split_kind}}-{{layers}}-{{first}}-{{last}}.log",
    benchmark:
        f"{R}/benchmarks/residual/{{dataset}}-{{split_kind}}-{{layers}}-{{first}}-{{last}}.tsv"
    conda:
        "../../environment.yml"
    threads: JOBS["threads"]
    resources:
        **GPU,
        mem_mb=memory,
        runtime=runtime,
    params:
        arguments=lambda w: training_arguments(find_training("residual", RESIDUAL.format(**w))),
        settings=lambda w: training_settings(find_training("residual", RESIDUAL.format(**w))),
        code=lambda w: training_code(find_training("residual", RESIDUAL.format(**w))),
    message:
        "train a residual GCN of {wildcards.layers} layers on {wildcards.dataset}, {wildcards.split_kind} split, replicas {wildcards.first} to {wildcards.last}"
    shell:
        TRAIN_CHUNK


rule record_curves:
    """Train a few replicas and keep every epoch's loss and accuracies."""
    input:
        unpack(lambda w: training_input(find_training("curves", f"curves/{w.dataset}/{w.model}"), 0, 0)),
    output:
        curves=f"{R}/curves/{{dataset}}/{{model}}.csv",
        rows=f"{R}/curves/{{dataset}}/{{model}}.rows/runs.csv",
    log:
        f"{R}/logs/curves/{{dataset}}-{{model}}.log",
    conda:
        "../../environment.yml"
    threads: JOBS["threads"]
    resources:
        **GPU,
        mem_mb=memory,
        runtime=runtime,
    params:
        arguments=lambda w: training_arguments(find_training("curves", f"curves/{w.dataset}/{w.model}")),
        settings=lambda w: training_settings(find_training("curves", f"curves/{w.dataset}/{w.model}")),
        code=lambda w: training_code(find_training("curves", f"curves/{w.dataset}/{w.model}")),
        replicas=config["curves"]["seeds"],
    message:
        "record the learning curves of {wildcards.model} on {wildcards.dataset}"
    shell:
        f"{TRAIN} --replicas 0:{{params.replicas}} --curves {{output.curves}} {STORED_AT}{LOGGED}"


rule record_alpha:
    """Train CGNN once and keep its learned α by node."""
    input:
        unpack(lambda w: training_input(find_training("curves", f"curves/{w.dataset}/cgnn"), 0, 0)),
    output:
        alpha=f"{R}/alpha/{{dataset}}.npz",
        rows=f"{R}/alpha/{{dataset}}.rows/runs.csv",
    log:
        f"{R}/logs/alpha/{{dataset}}.log",
    conda:
        "../../environment.yml"
    threads: JOBS["threads"]
    resources:
        **GPU,
        mem_mb=memory,
        runtime=runtime,
    params:
        arguments=lambda w: training_arguments(find_training("curves", f"curves/{w.dataset}/cgnn")),
        settings=lambda w: training_settings(find_training("curves", f"curves/{w.dataset}/cgnn")),
        code=lambda w: training_code(find_training("curves", f"curves/{w.dataset}/cgnn")),
    message:
        "record the learned α on {wildcards.dataset}"
    shell:
        f"{TRAIN} --replicas 0:1 --alpha {{output.alpha}} {STORED_AT}{LOGGED}"


rule runs:
    """All trainings of the tables."""
    input:
        chunk_files("runs"),
