"""What all pages share: how templates are filled in, how pages look, and what they may do."""

import base64
import hashlib
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup


def template(name: str) -> Template:
    """Return a template of a page that refers to nothing outside itself; it knows the style."""
    environment = Environment(
        loader=PackageLoader("truism.show"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["style"] = Markup(asset("page.css"))
    return environment.get_template(name)


def asset(name: str) -> str:
    """Return the text of a file that pages are made of."""
    return (files("truism.show") / "templates" / name).read_text(encoding="utf-8")


def policy(script: str | None = None) -> str:
    """Return a content security policy: a page may use our style and this script, and nothing else."""
    scripts = "" if script is None else f"script-src {_digest(script)}; "
    return (
        f"default-src 'none'; {scripts}style-src {_digest(asset('page.css'))}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
