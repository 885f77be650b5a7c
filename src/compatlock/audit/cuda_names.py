"""The CUDA major that names of libraries, packages and files tell (NVIDIA's conventions)."""

from __future__ import annotations

import re

# Libraries whose soname number is the CUDA major (of CUDA 12 and later for libnvrtc and libcupti).
_SAME = re.compile(
    r"lib(?:cudart|cublas|cublasLt|nvblas|nvrtc|nvJitLink|nvfatbin|cupti|nvjpeg|npp[a-z]+)"
    r"(?:[-.][0-9a-f]{6,16})?\.so\.(\d+)(?:\.\d+)*\Z"
)
# Libraries with numbers of their own. Only those that are of one major: libcusparse.so.12 and libcurand.so.10
# come with two of them; cuDNN, NCCL and cuSPARSELt have no CUDA in their names.
_OTHER = {
    "libcufft.so.10": 11,
    "libcufft.so.11": 12,
    "libcufft.so.12": 13,
    "libcusolver.so.12": 13,
    "libcusparse.so.11": 11,
}
_HASH = re.compile(r"[-.][0-9a-f]{8}(?=\.so)")
_MAJORS = range(10, 20)

_PACKAGE = re.compile(r"(?:nvidia-[a-z0-9-]+-cu|cupy-cuda)(\d\d)x?\Z")
# In front of digits that are a CUDA version: libfoo_cuda128.so, foo/cu13/lib, foo_cuda12x.
_TAG = re.compile(r"(?<![A-Za-z0-9])(?:lib\w*?_)?(?:cuda|cu)[-_]?(1[0-9])(?:[0-9.x]{0,3})(?![0-9A-Za-z])")
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?\s*([^;)]*)")
_TOOLKIT = re.compile(r"\s*(?:==|~=|===)\s*(\d+)\b")


def library_major(soname: str) -> int | None:
    """The CUDA major that a library belongs to, None if its name does not tell or it is none of CUDA."""
    match = _SAME.match(soname)
    if match:
        major = int(match[1])
        return major if major in _MAJORS else None
    return _OTHER.get(re.sub(r"(\.so\.\d+).*", r"\1", _HASH.sub("", soname)))


def package_major(name: str) -> int | None:
    """The CUDA major of a package that is named after it (`nvidia-nccl-cu12`)."""
    match = _PACKAGE.match(name)
    return int(match[1]) if match and int(match[1]) in _MAJORS else None


def path_major(path: str) -> int | None:
    """The CUDA major that a path is marked with (`libbitsandbytes_cuda128.so`, `nvidia/cu13/lib/...`)."""
    found = {int(m[1]) for m in _TAG.finditer(path)} & set(_MAJORS)
    return found.pop() if len(found) == 1 else None


def requirement_major(line: str) -> int | None:
    """The CUDA major that a Requires-Dist line brings: an NVIDIA library named after it, or the toolkit."""
    match = _REQUIREMENT.match(line)
    if not match:
        return None
    name = re.sub(r"[-_.]+", "-", match[1]).lower()
    if name == "cuda-toolkit" and (pin := _TOOLKIT.match(match[2])):
        return int(pin[1]) if int(pin[1]) in _MAJORS else None
    return package_major(name)
