"""Undefined symbols against what the chosen provider has."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.audit.headers import read_identifiers
from compatlock.audit.mangled import Mangled, read_mangled
from compatlock.audit.symbols import check_symbols, symbols_fit
from compatlock.model.artefact import MEMBER_LIMIT, Artefact
from compatlock.model.fact import FactBound
from compatlock.model.finding import CERTAIN, LIKELY, UNREAD, Finding
from tests.support.elf_writer import Undefined, shared_object
from tests.support.memory_wheels import MemoryObservations, MemoryWheels, artefact

TORCH = artefact("torch", "2.10.0")
AUDIO = artefact("torchaudio", "2.11.0")
ERROR = "_ZN3c105ErrorC1ENS_14SourceLocationE"
ERROR_LONG = "_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"

# As in reality: one library is far too large to be read, and headers tell what it may have.
LARGE = shared_object(soname="libtorch_cpu.so", needed=["libc10.so"], code=MEMBER_LIMIT)
PROVIDER = {
    "torch/lib/libc10.so": shared_object(soname="libc10.so", defined=[ERROR, "_ZNK3c105Error4whatEv"]),
    "torch/lib/libtorch.so": shared_object(soname="libtorch.so", needed=["libtorch_cpu.so", "libc10.so"]),
    "torch/lib/libtorch_cpu.so": LARGE,
    "torch/include/torch/csrc/stable/c/shim.h": b"AOTITorchError aoti_torch_delete_list(StableListHandle);\n"
    b"#define MAKE(name) int aoti_torch_dtype_##name();\n",
    "torch/include/c10/core/Device.h": b"namespace c10 { struct C10_API Device { string str() const; }; }",
    "torch/include/ATen/Tensor.h": b"namespace at { class TORCH_API Tensor {}; namespace _ops {} }",
    "torch/include/ATen/ops/add_ops.h": b"struct TORCH_API add_Tensor { static at::Tensor call(); };",
    "torch/include/ATen/ops/from_blob.h": b"class TORCH_API TensorMaker { Tensor make_tensor(); };",
}
SMALL = {path: data for path, data in PROVIDER.items() if path != "torch/lib/libtorch_cpu.so"}
SMALL |= {"torch/lib/libtorch_cpu.so": shared_object(soname="libtorch_cpu.so", defined=["torch_call"])}


def _extension(*undefined: str | Undefined, defined: tuple[str, ...] = ()) -> dict[str, bytes]:
    needed = ["libc10.so", "libtorch.so", "libtorch_cpu.so", "libc.so.6"]
    return {"torchaudio/lib/_C.so": shared_object(needed=needed, undefined=undefined, defined=defined)}


def _check(
    provider: Mapping[str, bytes], extension: Mapping[str, bytes], *more: tuple[Artefact, Mapping[str, bytes]]
) -> list[Finding]:
    content = {TORCH: provider, AUDIO: extension, **dict(more)}
    reader = MemoryWheels({a.file.filename: members for a, members in content.items()})
    return check_symbols(list(content), reader, MemoryObservations())


def test_a_c_function_that_no_header_has() -> None:
    [finding] = _check(PROVIDER, _extension("torch_library_impl", "aoti_torch_delete_list"))
    assert (finding.check, finding.package, finding.on, finding.certainty) == (
        "symbols",
        "torchaudio",
        "torch",
        LIKELY,
    )
    assert finding.summary == (
        "torchaudio 2.11.0 was built for another torch than 2.10.0, which has no `torch_library_impl`: "
        "torchaudio/lib/_C.so cannot be loaded"
    )
    assert finding.details == (
        "torchaudio/lib/_C.so: torch_library_impl (no header has `torch_library_impl`)",
    )
    assert [(p.package, p.member) for p in finding.places] == [
        ("torchaudio", "torchaudio/lib/_C.so"),
        ("torch", ""),
    ]
    assert finding.fact
    assert finding.fact.bounds == (FactBound("==2.11.0", "!=2.10.0"),)
    assert (finding.fact.package, finding.fact.on) == ("torchaudio", "torch")


def test_it_is_certain_where_all_libraries_were_read() -> None:
    [finding] = _check(SMALL, _extension("torch_library_impl", "torch_call", ERROR))
    assert finding.certainty == CERTAIN
    assert finding.details == (
        "torchaudio/lib/_C.so: torch_library_impl (not exported by libc10.so, libtorch.so, libtorch_cpu.so)",
    )
    # There the headers do not count: what is declared need not be built.
    [finding] = _check(SMALL, _extension("aoti_torch_delete_list"))
    assert finding.certainty == CERTAIN


def test_a_member_of_a_class_whose_library_was_read() -> None:
    [finding] = _check(PROVIDER, _extension(ERROR, ERROR_LONG))
    assert finding.certainty == LIKELY
    assert "which has no `c10::Error::Error`" in finding.summary
    assert finding.details == (
        f"torchaudio/lib/_C.so: {ERROR_LONG} (its class is in libc10.so, which does not export it)",
    )


@pytest.mark.parametrize(
    "symbol",
    [
        "aoti_torch_dtype_float8",  # a macro makes the name
        "_ZNK3c106Device3strEv",  # declared, whatever its signature
        "_ZN2at4_ops10add_Tensor4callERKNS_6TensorE",  # in the header of the operator
        "_ZN2at11TensorMaker11make_tensorEv",  # in a header of another name
        "_ZN2at6TensorIfEunknownEv",  # the name cannot be read to its end
        "_Z3fooi",  # nobody's namespace
        "PyList_New",  # of the interpreter
        "cudaMalloc",
    ],
)
def test_what_may_be_there_is_not_claimed_to_be_missing(symbol: str) -> None:
    assert not _check(PROVIDER, _extension(symbol))


def test_weak_versioned_and_own_symbols_are_not_missed() -> None:
    weak = Undefined("torch_maybe", weak=True)
    versioned = Undefined("torch_clock", "GLIBC_2.2.5", "libc.so.6")
    extension = _extension(weak, versioned, "torch_own")
    extension["torchaudio/lib/libown.so"] = shared_object(defined=["torch_own"])
    assert not _check(PROVIDER, extension)


def test_an_unknown_class_of_torch() -> None:
    [finding] = _check(PROVIDER, _extension("_ZN2at9NewTensor4callEv"))
    assert finding.details == ("torchaudio/lib/_C.so: _ZN2at9NewTensor4callEv (no header has `NewTensor`)",)


def test_without_headers_nothing_is_claimed() -> None:
    bare = {path: data for path, data in PROVIDER.items() if "/include/" not in path}
    assert not _check(bare, _extension("torch_library_impl"))


def test_headers_that_cannot_be_read_prove_nothing() -> None:
    content = {TORCH: PROVIDER, AUDIO: _extension("torch_library_impl")}
    wheels = {a.file.filename: members for a, members in content.items()}
    reader = MemoryWheels(wheels, ["torch/include/torch/csrc/stable/c/shim.h"])
    observations = MemoryObservations()
    [finding] = check_symbols(list(content), reader, observations)
    assert (finding.package, finding.certainty) == ("torch", UNREAD)
    assert "the connection broke" in finding.summary
    assert not any(kind.startswith("identifiers") for kind, _, _ in observations.held)


def test_of_variants_one_that_fits_is_enough() -> None:
    good, bad = _extension("aoti_torch_delete_list"), _extension("torch_library_impl")
    content = {
        "torchaudio/lib/_C4.so": bad["torchaudio/lib/_C.so"],
        "torchaudio/lib/_C5.so": good["torchaudio/lib/_C.so"],
    }
    assert not _check(PROVIDER, content)
    content["torchaudio/lib/_C5.so"] = content["torchaudio/lib/_C4.so"]
    [finding] = _check(PROVIDER, content)
    assert len(finding.details) == 2
    for name in ("_C_torch24.so", "pg_2_11_0.cpython-312-x86_64-linux-gnu.so"):
        assert not _check(PROVIDER, {f"torchaudio/lib/{name}": bad["torchaudio/lib/_C.so"]})


def test_versioned_symbols_of_a_library_in_the_set() -> None:
    runtime = artefact("nvidia-cuda-runtime", "13.0.96")
    library = shared_object(soname="libcudart.so.13", defined=["cudaMalloc"], versions=["libcudart.so.13"])
    extension = _extension(
        Undefined("cudaMalloc", "libcudart.so.13", "libcudart.so.13"),
        Undefined("cudaNewest", "libcudart.so.13", "libcudart.so.13"),
    )
    [finding] = _check(PROVIDER, extension, (runtime, {"nvidia/cu13/lib/libcudart.so.13": library}))
    assert (finding.on, finding.certainty) == ("nvidia-cuda-runtime", CERTAIN)
    assert finding.details == ("torchaudio/lib/_C.so: cudaNewest (not exported by libcudart.so.13)",)
    # Which of two is loaded cannot be told.
    other = artefact("other", "1.0")
    twice = {"other/libcudart.so.13": library}
    assert not _check(
        PROVIDER, extension, (runtime, {"nvidia/cu13/lib/libcudart.so.13": library}), (other, twice)
    )


def test_a_second_run_reads_nothing() -> None:
    content = {TORCH: PROVIDER, AUDIO: _extension("torch_library_impl", "_ZN2at9NewTensor4callEv")}
    reader = MemoryWheels({a.file.filename: members for a, members in content.items()})
    observations = MemoryObservations()
    first = check_symbols(list(content), reader, observations)
    assert first
    reader.reads.clear()
    assert check_symbols(list(reversed(content)), reader, observations) == first
    assert not reader.reads
    assert not symbols_fit(AUDIO, TORCH, reader, observations)
    assert symbols_fit(TORCH, AUDIO, reader, observations) is False


def test_the_cache_of_identifiers() -> None:
    headers = {"a.h": b"int foo; // f\xc3\xb6o\n", "b.h": b"#define M(x) make_##x ## _suffix"}
    reader = MemoryWheels({TORCH.file.filename: headers})
    [members] = [d.members for d in reader.directories([TORCH.file]).values()]
    observations = MemoryObservations()
    found = read_identifiers(TORCH, "all", members, reader, observations)
    assert {"foo", "int", "define"} <= found.names
    assert (found.prefixes, found.suffixes) == (("make_",), ("_suffix",))
    assert found.may_have("make_thing")
    assert found.may_have("any_suffix")
    assert not found.may_have("other")
    assert read_identifiers(TORCH, "all", members, reader, observations) == found
    assert len(reader.reads) == 2


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZN3c105ErrorC1ENS_14SourceLocationE", Mangled(("c10", "Error"), True, "constructor")),
        ("_ZNK3c106Device3strB5cxx11Ev", Mangled(("c10", "Device", "str"), True)),
        ("_ZTVN3c105ErrorE", Mangled(("c10", "Error"), True, "class data")),
        ("_ZN2at4_ops10add_Tensor4callERKNS_6TensorE", Mangled(("at", "_ops", "add_Tensor", "call"), True)),
        ("_ZNK2at10TensorBase8data_ptrIfEEPT_v", Mangled(("at", "TensorBase", "data_ptr"), False)),
        ("_ZN3c10lsERSoRKNS_6DeviceE", Mangled(("c10",), False)),
        ("_ZThn16_N3c105Error4whatEv", Mangled(("c10", "Error", "what"), True)),
        ("_Z3fooi", Mangled(("foo",), True)),
        ("_ZSt4cout", Mangled(("std", "cout"), True)),
        ("_ZNSt6vectorIiE4sizeEv", Mangled(("std", "vector"), False)),
        ("_ZN99999999999xE", Mangled((), False)),
        ("_Z", Mangled()),
    ],
)
def test_mangled_names(symbol: str, name: Mangled) -> None:
    assert read_mangled(symbol) == name


def test_what_is_no_mangled_name() -> None:
    assert read_mangled("torch_library_impl") is None


@given(st.text("ZNEISt0123456789_abcBCDTVLrK", max_size=40))
def test_any_text_is_read(text: str) -> None:
    mangled = read_mangled("_Z" + text)
    assert mangled is not None
    assert all(name in text for name in mangled.scopes if name != "std")
