"""From bytes to graphs and splits.

Needs: the network, a mirror or a full cache. Makes: data/{dataset}/graph.npz, splits/{dataset}/{split}.json.
"""

from cgnn.pipeline import data as dataset_jobs


# These rules take seconds, and the first needs the network, which cluster nodes may not have.
localrules:
    fetch_dataset,
    assemble_graph,
    make_split,


rule fetch_dataset:
    """Fetch the source files into the cache, verify their sha256, and record where they came from."""
    output:
        manifest=f"{R}/data/{{dataset}}/raw.json",
    log:
        f"{R}/logs/fetch_dataset/{{dataset}}.log",
    conda:
        "../../environment.yml"
    params:
        cache=lambda w: config["cache"],
        mirror=lambda w: ["--mirror", config["mirror"]] if config["mirror"] else [],
        code=provenance.command_fingerprint("fetch", "cgnn.datasets.registry", "cgnn.datasets.cache"),
    message:
        "fetch {wildcards.dataset}"
    shell:
        "python -m cgnn fetch {wildcards.dataset} --cache {params.cache:q} {params.mirror:q}"
        f" --manifest {{output.manifest:q}} {LOGGED}"


rule assemble_graph:
    """Write one graph.npz from the source files, your own npz, or the parameters of a synthetic graph."""
    input:
        lambda w: dataset_jobs.raw_input(config, w.dataset),
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
        arguments=lambda w: dataset_jobs.graph_arguments(config, w.dataset),
        cache=lambda w: config["cache"],
        # A replaced file may have an older date.
        source=lambda w: dataset_jobs.own_graph_digest(dataset_jobs.own_path(config, w.dataset)),
        code=lambda w: provenance.command_fingerprint("graph", *dataset_jobs.graph_modules(config, w.dataset)),
    message:
        "assemble {wildcards.dataset}"
    shell:
        "python -m cgnn graph {wildcards.dataset} {params.arguments:q}"
        f" --cache {{params.cache:q}} --out {{output.graph:q}} {LOGGED}"


rule make_split:
    """Write the fixed split of the graph, or one drawn by the rule in its name."""
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
        arguments=lambda w: dataset_jobs.split_arguments(config, w.dataset, w.split),
        code=provenance.command_fingerprint("split", "cgnn.datasets.registry"),
    message:
        "split {wildcards.dataset} {wildcards.split}"
    shell:
        "python -m cgnn split --graph {input.graph:q} --name {wildcards.split} {params.arguments:q}"
        f" --out {{output.split:q}} {LOGGED}"
