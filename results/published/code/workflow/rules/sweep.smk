"""Figure 2: accuracy against the number of layers or the ending time.

Needs: graphs and fixed splits. Makes: sweeps/{dataset}/{model}/{value}/{first}-{last}.csv.
"""

SWEEP = "sweeps/{dataset}/{model}/{value}"


rule train_sweep:
    """One point of Figure 2: a model at a number of layers or an ending time, fixed split."""
    input:
        unpack(lambda w: training_input(find_training("sweeps", SWEEP.format(**w)), w.first, w.last)),
    output:
        rows=f"{R}/{SWEEP}/{{first}}-{{last}}.csv",
        seconds=f"{R}/{SWEEP}/{{first}}-{{last}}.seconds.csv",
    log:
        f"{R}/logs/sweep/{{dataset}}-{{model}}-{{value}}-{{first}}-{{last}}.log",
    benchmark:
        f"{R}/benchmarks/sweep/{{dataset}}-{{model}}-{{value}}-{{first}}-{{last}}.tsv"
    conda:
        "../../environment.yml"
    threads: JOBS["threads"]
    resources:
        **GPU,
        mem_mb=memory,
        runtime=runtime,
    params:
        arguments=lambda w: training_arguments(find_training("sweeps", SWEEP.format(**w))),
        settings=lambda w: training_settings(find_training("sweeps", SWEEP.format(**w))),
        code=lambda w: training_code(find_training("sweeps", SWEEP.format(**w))),
    message:
        "sweep {wildcards.model} at {wildcards.value} on {wildcards.dataset}, replicas {wildcards.first} to {wildcards.last}"
    shell:
        TRAIN_CHUNK


rule sweeps:
    """All points of Figure 2."""
    input:
        chunk_files("sweeps"),
