"""The problems that the benchmarks lock: sets that people really install together, sets that are known to
make resolvers backtrack, sets without an answer, and matrices with a planted answer."""

from __future__ import annotations

from typing import NamedTuple

PROFILE, LARGE, HARD, IMPOSSIBLE, MATRIX = "profile", "large", "hard", "impossible", "matrix"


class Problem(NamedTuple):
    """`requirements` are the lines that every tool gets; `kind` is one of the constants above. `options` are
    named alike by compatlock and uv: packages whose wheels are for other Pythons only, so that uv would build
    them, and compatlock only when it is told to. `releases` is the size of a matrix, else 0."""

    requirements: tuple[str, ...]
    kind: str
    options: tuple[str, ...] = ()
    releases: int = 0


_REAL = {
    # The shipped profiles, by what they ask for. verl-sglang and trinity-rft have no answer as declared.
    "async-grpo": Problem(("trl>=1.0", "vllm>=0.22.0", "transformers>=5.2.0"), PROFILE),
    "axolotl": Problem(("axolotl[deepspeed]",), PROFILE),
    "llamafactory": Problem(("llamafactory",), PROFILE),
    "ms-swift": Problem(("ms-swift",), PROFILE),
    "trl": Problem(("trl",), PROFILE),
    "trl-deepspeed": Problem(("trl[deepspeed]",), PROFILE),
    "trl-liger": Problem(("trl[liger]",), PROFILE),
    "trl-peft": Problem(("trl[peft]",), PROFILE),
    "trl-quantization": Problem(("trl[quantization]",), PROFILE),
    "trl-vllm": Problem(("trl[vllm]",), PROFILE),
    "trl-vlm": Problem(("trl[vlm]",), PROFILE),
    "unsloth": Problem(("unsloth",), PROFILE),
    "verl": Problem(("verl",), PROFILE),
    "verl-vllm": Problem(("verl[vllm]",), PROFILE),
    "trinity-rft": Problem(("trinity-rft[vllm]==0.6.0",), IMPOSSIBLE),
    "verl-sglang": Problem(("verl[sglang]>=0.9.1",), IMPOSSIBLE),
    # For Python 3.12 each tensorflow-text needs a newer keras.
    "tf-models": Problem(("tf-models-official", "tensorflow", "tensorflow-text", "keras<3.5"), IMPOSSIBLE),
    # Many packages.
    "airflow-all": Problem(("apache-airflow[all]",), LARGE),
    "airflow-providers": Problem(
        (
            "apache-airflow", "apache-airflow-providers-amazon", "apache-airflow-providers-google",
            "apache-airflow-providers-microsoft-azure", "apache-airflow-providers-cncf-kubernetes",
            "apache-airflow-providers-snowflake", "apache-airflow-providers-databricks",
        ),
        LARGE,
    ),
    "apache-beam": Problem(
        ("apache-beam[gcp,dataframe,interactive]",), LARGE, ("--no-binary", "google-apitools")
    ),
    "jupyter": Problem(("jupyter", "jupyterlab", "nbconvert[all]", "ipywidgets"), LARGE),
    # Known to make resolvers backtrack.
    "boto": Problem(("boto3", "botocore<1.30", "aiobotocore", "s3fs", "awscli"), HARD),
    "urllib3": Problem(("urllib3<1.25", "requests", "boto3", "selenium", "kubernetes"), HARD),
    "starlette-fastapi": Problem(("starlette<=0.36.0", "fastapi<=0.115.2"), HARD),
    "opentelemetry": Problem(
        (
            "opentelemetry-distro", "opentelemetry-exporter-otlp", "opentelemetry-instrumentation-requests",
            "opentelemetry-semantic-conventions<0.45b0", "opentelemetry-sdk>=1.20",
        ),
        HARD,
    ),
    "pydantic-one": Problem(("pydantic<2", "fastapi", "langchain", "spacy", "openai"), HARD),
    "numpy-one": Problem(("numpy<2", "pandas", "scipy", "jax", "opencv-python", "numba"), HARD),
    "vllm-sglang": Problem(("vllm", "sglang"), HARD),
}  # fmt: skip

MATRIX_SIZES = (100, 1_000, 10_000, 100_000)

# Matrices ask for five packages (`benchmarks.matrices.ROOTS`).
_MATRICES = {
    f"matrix-{size}": Problem(tuple(f"p{i:04}" for i in range(5)), MATRIX, releases=size)
    for size in MATRIX_SIZES
}

PROBLEMS: dict[str, Problem] = {**_REAL, **_MATRICES}
