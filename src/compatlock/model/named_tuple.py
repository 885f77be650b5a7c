"""Named tuples that are cheap to define.

`typing.NamedTuple` compiles every annotation to check it, 0.11 ms a class and more: with the sixty classes
of a warm run, and typing's own import, a tenth of the whole. Type checkers see `typing.NamedTuple` itself.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    # What a class body holds that is not for the class.
    _LEFT_OUT = ("__annotations__", "__dict__", "__weakref__")

    class _Defining(type):
        """Makes of a class body with annotations what `typing.NamedTuple` would make of it."""

        def __new__(cls, name, bases, body):  # noqa: ARG004 - the interface of metaclasses
            fields = body["__annotations__"]
            defaults = [body[field] for field in fields if field in body]
            if any(field in body for field in list(fields)[: len(fields) - len(defaults)]):
                raise TypeError(f"{name} has a non-default field after one with a default")
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            made.__annotations__ = made.__new__.__annotations__ = dict(fields)
            for key, value in body.items():
                if key not in fields and key not in _LEFT_OUT:
                    setattr(made, key, value)
            return made

    # Classes name it as their base, which type.__new__ never sees but here.
    NamedTuple = type.__new__(_Defining, "NamedTuple", (), {})
