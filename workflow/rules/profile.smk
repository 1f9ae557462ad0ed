"""Figure 3 and the running-time table: peak memory and seconds of an epoch.

Needs: graphs and fixed splits. Makes: profiles/{dataset}/{method}/{value}.json, each measured in a process of its
own. The rule takes every core and the `profiler` resource, so nothing else runs beside it.
"""

PROFILES = {profile.file: profile for profile in plan.profiles(config)}


def find_profile(wildcards):
    file = f"profiles/{wildcards.dataset}/{wildcards.method}/{wildcards.value}.json"
    if file not in PROFILES:
        raise WorkflowError(f"{R}/{file}: the config asks for no such profile")
    return PROFILES[file]


def profile_arguments(wildcards):
    p = find_profile(wildcards)
    words = ["--dataset", p.dataset, "--method", p.method, "--model", p.model, "--preset", p.preset]
    for name, value in p.switches:
        words += ["--switch", f"{name}={value}"]
    words += ["--axis", p.axis, "--value", f"{p.value:g}", "--epochs", str(config["profiles"]["epochs"])]
    if JOBS["memory_limit_mb"]:
        words += ["--memory-limit", str(JOBS["memory_limit_mb"])]
    return shlex.join(words)


def profile_code(wildcards):
    p = find_profile(wildcards)
    return profile_fingerprint(p.model, preset(p.preset, **dict(p.switches)))


rule measure_profile:
    """One method at one depth or ending time, alone on the machine; medians over a few epochs after a warm-up."""
    input:
        graph=f"{R}/data/{{dataset}}/graph.npz",
        split=f"{R}/splits/{{dataset}}/fixed.json",
    output:
        profile=f"{R}/profiles/{{dataset}}/{{method}}/{{value}}.json",
    log:
        f"{R}/logs/profile/{{dataset}}-{{method}}-{{value}}.log",
    threads: workflow.cores or 1
    resources:
        mem_mb=memory,
        runtime=15,
        gpu=int(WANTS_GPU),
        profiler=1,
    params:
        arguments=profile_arguments,
        code=profile_code,
    message:
        "measure {wildcards.method} at {wildcards.value} on {wildcards.dataset}"
    shell:
        "python -m cgnn profile {params.arguments} --graph {input.graph} --splits " + R + "/splits/{wildcards.dataset}"
        f" --device {JOBS['device']} --threads {JOBS['threads']}"
        " --expect-fingerprint {params.code} --out {output.profile} " + LOGGED


rule profiles:
    """All points of Figure 3."""
    input:
        [f"{R}/{file}" for file in PROFILES],
