"""Figure 3 and the running-time table: peak memory and seconds of an epoch.

Needs: graphs and fixed splits. Makes: profiles/{dataset}/{method}/{value}.json, each measured in a process of its
own. The rule takes every core and the `profiler` resource, so nothing else runs beside it.
"""

PROFILES = {profile.file: profile for profile in plan.profiles(config)}


rule measure_profile:
    """One method at one depth or ending time, alone on the machine; medians over a few epochs after a warm-up."""
    input:
        graph=f"{R}/data/{{dataset}}/graph.npz",
        split=f"{R}/splits/{{dataset}}/fixed.json",
    output:
        profile=f"{R}/profiles/{{dataset}}/{{method}}/{{value}}.json",
    log:
        f"{R}/logs/profile/{{dataset}}-{{method}}-{{value}}.log",
    conda:
        "../../environment.yml"
    # Every core of this machine; on a cluster the slurm profile asks for a node of its own instead.
    threads: (workflow.resource_settings.cores or 1) if workflow.is_main_process else 1
    resources:
        **GPU,
        mem_mb=memory,
        runtime=15,
        profiler=1,
    params:
        arguments=profile_arguments,
        code=lambda w: profile_fingerprint(w.method, preset(config["profiles"]["preset"])),
    message:
        "measure {wildcards.method} at {wildcards.value} on {wildcards.dataset}"
    shell:
        "python -m cgnn profile {params.arguments} --graph {input.graph} --split {input.split}"
        f" --device {JOBS['device']} --threads {JOBS['threads']}"
        " --expect-fingerprint {params.code} --out {output.profile}"
        f" {LOGGED}"


rule profiles:
    """All points of Figure 3."""
    input:
        [f"{R}/{file}" for file in PROFILES],
