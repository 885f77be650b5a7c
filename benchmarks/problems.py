"""The problems that the benchmarks lock: sets that people really install together."""

from __future__ import annotations

PROBLEMS: dict[str, tuple[str, ...]] = {
    "async-grpo": ("trl>=1.0", "vllm>=0.22.0", "transformers>=5.2.0"),
    "trl[vllm]": ("trl[vllm]",),
    "unsloth": ("unsloth",),
    "verl[vllm]": ("verl[vllm]",),
    "llamafactory": ("llamafactory",),
    "axolotl": ("axolotl",),
    "apache-beam": ("apache-beam[gcp,dataframe,interactive]",),
}

# Options that a problem needs, by the names that both tools know. google-apitools 0.5.31 has wheels for
# Python 2 only: uv builds it anyway, compatlock only when it is told to.
OPTIONS: dict[str, tuple[str, ...]] = {"apache-beam": ("--no-binary", "google-apitools")}
