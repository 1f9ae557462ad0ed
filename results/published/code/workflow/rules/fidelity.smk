"""The fidelity table: which of the points on which paper and code differ makes the published number.

Needs: graphs and fixed splits, and runs of Table 2 where a variant is one of them. Makes: fidelity/{dataset}/{variant}/{first}-{last}.csv.
"""

VARIANT = "fidelity/{dataset}/{variant}"


rule train_variant:
    """Replicas of one row of the fidelity table: a preset, or one switch flipped alone."""
    input:
        unpack(lambda w: training_input(find_training("fidelity", VARIANT.format(**w)), w.first, w.last)),
    output:
        rows=f"{R}/{VARIANT}/{{first}}-{{last}}.csv",
        seconds=f"{R}/{VARIANT}/{{first}}-{{last}}.seconds.csv",
    log:
        f"{R}/logs/fidelity/{{dataset}}-{{variant}}-{{first}}-{{last}}.log",
    benchmark:
        f"{R}/benchmarks/fidelity/{{dataset}}-{{variant}}-{{first}}-{{last}}.tsv"
    conda:
        "../../environment.yml"
    threads: JOBS["threads"]
    resources:
        **GPU,
        mem_mb=memory,
        runtime=runtime,
    params:
        arguments=lambda w: training_arguments(find_training("fidelity", VARIANT.format(**w))),
        settings=lambda w: training_settings(find_training("fidelity", VARIANT.format(**w))),
        code=lambda w: training_code(find_training("fidelity", VARIANT.format(**w))),
    message:
        "train fidelity variant {wildcards.variant} on {wildcards.dataset}, replicas {wildcards.first} to {wildcards.last}"
    shell:
        TRAIN_CHUNK


rule fidelity:
    """All rows of the fidelity table."""
    input:
        chunk_files("fidelity"),
