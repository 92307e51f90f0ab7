"""The dates on what is made: in UTC in files, and where the user is on a report."""

import datetime
import re

from truism.model import provenance as stamps


def test_a_moment_is_in_utc_to_the_second():
    before = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    moment = datetime.datetime.fromisoformat(stamps.now())
    assert moment.utcoffset() == datetime.timedelta(0)
    assert moment.microsecond == 0
    assert before <= moment <= datetime.datetime.now(datetime.UTC)


def test_a_day_is_a_date():
    days = {datetime.datetime.now(datetime.UTC).date(), datetime.date.fromisoformat(stamps.today())}
    assert max(days) - min(days) <= datetime.timedelta(days=1)


def test_a_report_has_the_minute():
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", stamps.now_here())
