"""Named tuples that are cheap to define.

`typing.NamedTuple` compiles every annotation to check it and a constructor besides, 0.1 ms a class and more:
with the sixty classes of a warm run, and typing's own import, more than a tenth of the whole. Here a class
gets a constructor of its own when it was called some times, or called wrongly, which that then says. Type
checkers see `typing.NamedTuple` itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter

    # Compiling a constructor takes as long as so many calls of what they all share.
    _CALLS = 8
    _calls = {}

    class _Signature:
        """What `inspect.signature` says of a class, also before its constructor is there."""

        def __get__(self, instance, owner):
            from inspect import Parameter, Signature

            return Signature(
                Parameter(
                    field,
                    Parameter.POSITIONAL_OR_KEYWORD,
                    default=owner._field_defaults.get(field, Parameter.empty),
                    annotation=owner.__annotations__[field],
                )
                for field in owner._fields
            )

    def _constructor(cls):
        """Compile the constructor of a class."""
        names = ", ".join(cls._fields)
        # No field's name begins with an underscore.
        scope = {"_new": tuple.__new__, "__builtins__": {}, "__name__": cls.__module__}
        new = eval(f"lambda _cls, {names}: _new(_cls, ({names},))", scope)
        new.__defaults__ = tuple(cls._field_defaults.values())
        new.__name__, new.__qualname__ = "__new__", f"{cls.__qualname__}.__new__"
        cls.__new__ = new
        return new

    class _Values(tuple):
        """What all named tuples have, as `collections.namedtuple` documents it."""

        __slots__ = ()
        __signature__ = _Signature()

        def __new__(cls, /, *values, **named):
            _calls[cls] = calls = _calls.get(cls, 0) + 1
            left = cls._fields[len(values) :]
            given = {**cls._field_defaults, **named}
            is_right = len(values) <= len(cls._fields) and named.keys() <= {*left} <= given.keys()
            if calls > _CALLS or not is_right:
                return _constructor(cls)(cls, *values, **named)
            return tuple.__new__(cls, (*values, *[given[field] for field in left]))

        @classmethod
        def _make(cls, values):
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **named):
            made = self._make(map(named.pop, self._fields, self))
            if named:
                raise TypeError(f"Got unexpected field names: {list(named)!r}")
            return made

        __replace__ = _replace

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            fields = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({fields})"

        def __getnewargs__(self):
            return tuple(self)

    class _Defining(type):
        """Makes of a class body with annotations what `typing.NamedTuple` would make of it."""

        def __new__(cls, name, bases, body):  # noqa: ARG004 - the interface of metaclasses
            fields = tuple(body["__annotations__"])
            defaults = {field: body[field] for field in fields if field in body}
            if any(field.startswith("_") for field in fields):
                raise ValueError(f"{name} has a field whose name begins with an underscore")
            if tuple(defaults) != fields[len(fields) - len(defaults) :]:
                raise TypeError(f"{name} has a non-default field after one with a default")
            for index, field in enumerate(fields):
                body[field] = _tuplegetter(index, None)
            own = {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields, "__slots__": ()}
            return type(name, (_Values,), {**body, **own})

    # Classes name it as their base, which type.__new__ never sees but here.
    NamedTuple = type.__new__(_Defining, "NamedTuple", (), {})
