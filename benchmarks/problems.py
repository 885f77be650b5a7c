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
