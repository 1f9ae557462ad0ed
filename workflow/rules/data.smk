"""From bytes to graphs and splits.

Needs: the network, a mirror or a full cache. Makes: data/{dataset}/graph.npz, splits/{dataset}/{split}.json.
"""

from cgnn.datasets.registry import modules_of as dataset_modules

CACHE = shlex.quote(config["cache"])
MIRROR = f"--mirror {shlex.quote(config['mirror'])}" if config["mirror"] else ""


def dataset_options(dataset):
    options = config["datasets"][dataset]
    return options if isinstance(options, dict) else {}


def graph_arguments(wildcards):
    options = dataset_options(wildcards.dataset)
    if "path" in options:
        return f"--path {shlex.quote(options['path'])}"
    return f"--parameters {shlex.quote(json.dumps(options))}" if options else ""


def split_arguments(wildcards):
    sizes = config["protocol"]["split_sizes"]
    sizes = {**sizes["default"], **sizes.get(wildcards.dataset, {})}
    flags = {"per_class": "--per-class", "validation": "--validation", "test": "--test"}
    return "" if wildcards.split == "fixed" else " ".join(f"{flags[key]} {value}" for key, value in sizes.items())


def raw_input(wildcards):
    """Your own graph is its file, a made-up one needs none, the others have been fetched."""
    own = dataset_options(wildcards.dataset).get("path")
    return own or ([] if wildcards.dataset == "synthetic" else f"{R}/data/{wildcards.dataset}/raw.json")


def graph_code(wildcards):
    own = dataset_options(wildcards.dataset).get("path")
    return provenance.command_fingerprint(
        "graph", "cgnn.datasets.registry", *dataset_modules(wildcards.dataset, path=own)
    )


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
        code=provenance.command_fingerprint("fetch", "cgnn.datasets.registry", "cgnn.datasets.cache"),
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
        code=provenance.command_fingerprint("split", "cgnn.datasets.registry"),
    message:
        "split {wildcards.dataset} {wildcards.split}"
    shell:
        "python -m cgnn split --graph {input.graph} --name {wildcards.split} {params.arguments}"
        f" --out {{output.split}} {LOGGED}"


rule data:
    """All graphs and splits."""
    input:
        expand(f"{R}/data/{{dataset}}/graph.npz", dataset=DATASETS),
        lambda w: OUT.splits,
