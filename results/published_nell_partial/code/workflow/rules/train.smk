"""Every training: Tables 2 and 3, the residual GCN, Figure 2, the fidelity table, and recorded curves and α.

Needs: graphs, splits, and best.yaml where hyperparameters are searched. Makes: one CSV per job with one row per
replica, named by the replicas it holds, so more seeds later are new files beside the old ones; the times; and the
learning curves and learned α.
"""


rule train:
    """Train replicas first … last of one training."""
    input:
        unpack(lambda w: planned(w).inputs(config["results"], int(w.first), int(w.last))),
    output:
        rows=f"{R}/{{folder}}/{{first}}-{{last}}.csv",
        seconds=f"{R}/{{folder}}/{{first}}-{{last}}.seconds.csv",
        recorded=f"{R}/{{folder}}/{{first}}-{{last}}.npz",
    log:
        f"{R}/logs/{{folder}}/{{first}}-{{last}}.log",
    benchmark:
        f"{R}/benchmarks/{{folder}}/{{first}}-{{last}}.tsv"
    wildcard_constraints:
        folder="(runs|sweeps|fidelity|curves)/.+",
    priority: 10
    conda:
        "../../environment.yml"
    threads: JOBS["threads"]
    resources:
        **GPU,
        mem_mb=lambda w, attempt: memory(planned(w).training, attempt),
        runtime=lambda w, attempt: runtime(planned(w).training, attempt),
    params:
        **LIMITED,
        # --dataset, --split, --model, --preset, --switch, --set, --epochs, … (cgnn/training/record.py)
        training=lambda w: shlex.join(planned(w).training.arguments()),
        limit=MEMORY_LIMIT,
        settings=lambda w: planned(w).published_settings,
        code=lambda w: provenance.training_fingerprint(planned(w).training.model, planned(w).training.fidelity),
    message:
        "train {wildcards.folder}, replicas {wildcards.first} to {wildcards.last}"
    shell:
        'python -m cgnn train {params.training} --graph {input.graph:q} --splits "$(dirname {input.splits[0]:q})"'
        " --hyperparameters {input.best:q} --replicas {wildcards.first}:$(({wildcards.last} + 1)) {params.limit}"
        f" --device {JOBS['device']} --threads {{threads}} --expect-fingerprint {{params.code}}"
        f" --out {{output.rows:q}} {LOGGED}"
