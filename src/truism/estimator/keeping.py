"""What is kept of a detector by formats for Python objects: pickle, joblib, skops."""

from typing import TYPE_CHECKING, Any, Self

from truism.model.files import decode_model, encode_model
from truism.model.model import Model


class Kept:
    """The methods that such formats call: the model is kept as its file, which all of them can hold."""

    if TYPE_CHECKING:

        def adopt(self, model: Model) -> Self: ...  # noqa: D102

    def __getstate__(self) -> dict[str, Any]:
        """Return the parameters, and the model as the content of its file."""
        state: dict[str, Any] = {**super().__getstate__()}  # type: ignore[dict-item]
        if state.pop("_checker", None) is not None:
            state["model_"] = encode_model(state["model_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[misc]
        if "model_" in state:
            self.adopt(decode_model(state["model_"]))
