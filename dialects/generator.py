"""Write a compiled tree as SQL, with the generator of its target."""

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from dialects.base_generator import TargetGenerator
from dialects.by_dialect import ByDialect
from dialects.enums import Dialect
from dialects.errors import Untranslatable

_GENERATORS = ByDialect[TargetGenerator]("dialects.{}.generator", "GENERATOR")


def spell(tree: exp.Expr, target: Dialect) -> str:
    """Write the tree for a target, exactly as it is.

    Raises:
        Untranslatable: it has a node that the compiler does not make, or that the target cannot express.
    """
    try:
        return _GENERATORS[target].generate(tree, copy=False)
    except UnsupportedError as error:
        raise Untranslatable(type(tree).__name__, str(error)) from error
