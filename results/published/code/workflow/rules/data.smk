"""From bytes to graphs and splits.

Needs: the network, a mirror or a full cache. Makes: data/{dataset}/graph.npz, splits/{dataset}/{split}.json.
"""


# Seconds each, and the first needs the network, which a cluster's nodes may not have.
localrules:
    fetch_dataset,
    assemble_graph,
    make_split,


rule fetch_dataset:
    """Bring the source files into the cache, each checked by its sha256, and write down where they came from."""
    output:
        manifest=f"{R}/data/{{dataset}}/raw.json",
    log:
        f"{R}/logs/fetch_dataset/{{dataset}}.log",
    conda:
        "../../environment.yml"
    params:
        code=code_fingerprint("cgnn.datasets.registry", "cgnn.datasets.cache"),
    message:
        "fetch {wildcards.dataset}"
    shell:
        f"python -m cgnn fetch {{wildcards.dataset}} --cache {CACHE} {MIRROR} --manifest {{output.manifest}} {LOGGED}"


rule assemble_graph:
    """Make one graph.npz of the source files, of your own npz, or of a recipe."""
    input:
        raw_input,
    output:
        graph=f"{R}/data/{{dataset}}/graph.npz",
    log:
        f"{R}/logs/assemble_graph/{{dataset}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory,
        runtime=10,
    params:
        arguments=graph_arguments,
        code=graph_code,
    message:
        "assemble {wildcards.dataset}"
    shell:
        "python -m cgnn graph {wildcards.dataset} {params.arguments}"
        f" --cache {CACHE} --out {{output.graph}} {LOGGED}"


rule make_split:
    """The fixed split of the paper, or a random one drawn from its name."""
    input:
        graph=f"{R}/data/{{dataset}}/graph.npz",
    output:
        split=f"{R}/splits/{{dataset}}/{{split}}.json",
    log:
        f"{R}/logs/make_split/{{dataset}}-{{split}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory,
        runtime=10,
    params:
        arguments=split_arguments,
        code=code_fingerprint("cgnn.verbs.split"),
    message:
        "split {wildcards.dataset} {wildcards.split}"
    shell:
        "python -m cgnn split --graph {input.graph} --name {wildcards.split} {params.arguments}"
        f" --out {{output.split}} {LOGGED}"


rule data:
    """All graphs and splits."""
    input:
        expand(f"{R}/data/{{dataset}}/graph.npz", dataset=DATASETS),
        expand(f"{R}/splits/{{dataset}}/fixed.json", dataset=DATASETS),
        expand(
            f"{R}/splits/{{dataset}}/random{{i:02d}}.json",
            dataset=DATASETS,
            i=range(config["protocol"]["random_splits"]),
        ),
