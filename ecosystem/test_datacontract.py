"""datacontract-cli runs the data contract: each check fails if a row breaks its rule."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from rows import BROKEN, MODEL, NORMAL, broken_rules

from truism.export.contracts import to_odcs

contracts = pytest.importorskip(
    "datacontract.data_contract", reason="datacontract-cli is not installed"
)


def failed(folder, data):
    """Return the names of the checks of rules that fail, and how many checks there are."""
    pq.write_table(pa.table(data), folder / "readings.parquet")
    contract = yaml.safe_load(to_odcs(MODEL, dialect="duckdb", table="readings"))
    place = str(folder / "readings.parquet")
    server = {"server": "here", "type": "local", "path": place, "format": "parquet"}
    contract["servers"] = [server]
    (folder / "contract.yaml").write_text(yaml.safe_dump(contract))
    asked = contracts.DataContract(data_contract_file=str(folder / "contract.yaml"), server="here")
    run = asked.test()
    checks = [each for each in run.checks if each.category == "quality"]
    assert checks, run.pretty()
    assert {each.result for each in checks} <= {"passed", "failed"}, run.pretty()
    named = {each["description"]: each["name"] for each in contract["schema"][0]["quality"]}
    return {named[each.name] for each in checks if each.result == "failed"}, len(checks)


def test_normal_rows_pass(tmp_path):
    broken, n_checks = failed(tmp_path, NORMAL)
    assert broken == set()
    print(f"datacontract-cli: {n_checks} checks of the contract ran")


def test_broken_rows_fail(tmp_path):
    broken, _ = failed(tmp_path, BROKEN)
    assert broken == {"variables", *broken_rules(BROKEN)}
