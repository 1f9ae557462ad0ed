"""Figure 3 and the running-time table: peak memory and seconds per epoch.

Needs: graphs and fixed splits. Makes: profiles/{dataset}/{method}/{value}.json, each measured in a process of its
own. With `profiles.exclusive`, a job takes every core and the `profiler` resource, so nothing else runs beside it.
"""

EXCLUSIVE = config["profiles"]["exclusive"]


rule measure_profile:
    """Measure one method at one depth or ending time; medians over a few epochs."""
    input:
        graph=f"{R}/data/{{dataset}}/graph.npz",
        split=f"{R}/splits/{{dataset}}/fixed.json",
    output:
        profile=f"{R}/profiles/{{dataset}}/{{method}}/{{value}}.json",
    log:
        f"{R}/logs/profiles/{{dataset}}-{{method}}-{{value}}.log",
    conda:
        "../../environment.yml"
    # All cores of this machine; on a cluster the slurm profile requests an exclusive node instead.
    threads: (workflow.resource_settings.cores or 1) if EXCLUSIVE and workflow.is_main_process else 1
    resources:
        **GPU,
        mem_mb=memory,
        runtime=15,
        profiler=int(EXCLUSIVE),
    params:
        preset=config["profiles"]["preset"],
        epochs=profile_epochs,
        limit=MEMORY_LIMIT,
        code=lambda w: provenance.profile_fingerprint(w.method, preset(config["profiles"]["preset"])),
    message:
        "measure {wildcards.method} at {wildcards.value} on {wildcards.dataset}"
    shell:
        "python -m cgnn profile --dataset {wildcards.dataset} --method {wildcards.method} --value {wildcards.value}"
        " --preset {params.preset} {params.epochs} {params.limit} --graph {input.graph:q} --split-file {input.split:q}"
        f" --device {JOBS['device']} --threads {JOBS['threads']} --expect-fingerprint {{params.code}}"
        f" --out {{output.profile:q}} {LOGGED}"
