"""Every training: Tables 2 and 3, the residual GCN, Figure 2, the fidelity table, and recorded curves and α.

Needs: graphs, splits, and best.yaml where hyperparameters are searched. Makes: one CSV per job with one row per
replica, named by the replicas it holds, so more seeds later are new files beside the old ones; the times; and the
learning curves and learned α.
"""


def planned(wildcards):
    """The training behind a requested file."""
    if wildcards.folder not in OUT.trainings:
        raise WorkflowError(f"{config['results']}/{wildcards.folder}: the config asks for no such training")
    return OUT.trainings[wildcards.folder]


def training_input(wildcards):
    """A training reads its graph, the splits of its replicas, and the result of the search it follows."""
    wanted = planned(wildcards)
    results, dataset = config["results"], wanted.training.dataset
    splits = wanted.splits(int(wildcards.first), int(wildcards.last))
    return {
        "graph": f"{results}/data/{dataset}/graph.npz",
        "splits": [f"{results}/splits/{dataset}/{split}.json" for split in splits],
        "best": [f"{results}/{wanted.search.folder}/best.yaml"] if wanted.search else [],
    }


def published_settings(wildcards):
    """The published values themselves: a corrected digit in paper/reported.yaml reruns what used it."""
    training = planned(wildcards).training
    settings = published(training.dataset, training.split_kind, training.model)
    return "search" if planned(wildcards).search else json.dumps(asdict(settings))


rule train:
    """Train replicas first … last of one training."""
    input:
        unpack(training_input),
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
        # --dataset, --split, --model, --preset, --switch, --set, --epochs, … (cgnn/training/record.py)
        training=lambda w: shlex.join(planned(w).training.arguments()),
        limit=MEMORY_LIMIT,
        settings=published_settings,
        code=lambda w: provenance.training_fingerprint(planned(w).training.model, planned(w).training.fidelity),
    message:
        "train {wildcards.folder}, replicas {wildcards.first} to {wildcards.last}"
    shell:
        'python -m cgnn train {params.training} --graph {input.graph:q} --splits "$(dirname {input.splits[0]:q})"'
        " --hyperparameters {input.best:q} --replicas {wildcards.first}:$(({wildcards.last} + 1)) {params.limit}"
        f" --device {JOBS['device']} --threads {{threads}} --expect-fingerprint {{params.code}}"
        f" --out {{output.rows:q}} {LOGGED}"


rule trainings:
    """All trainings."""
    input:
        lambda w: [file for planned in OUT.trainings.values() for file in planned.files(config)],


rule runs:
    """All trainings of the main tables."""
    input:
        lambda w: OUT.collected.get("runs", []),


rule sweeps:
    """All points of Figure 2."""
    input:
        lambda w: OUT.collected.get("sweeps", []),


rule fidelity:
    """All rows of the fidelity table."""
    input:
        lambda w: OUT.collected.get("fidelity", []),
