"""What holds for every test: an error that is only logged is still an error."""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def no_error_logs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test during which an error was logged, unless it is marked `expects_error_log`.

    The record factory sees the records of all loggers, also of those that do not propagate.
    """
    errors: list[logging.LogRecord] = []
    make_record = logging.getLogRecordFactory()

    def make_and_keep(*args: object, **kwargs: object) -> logging.LogRecord:
        record: logging.LogRecord = make_record(*args, **kwargs)
        if record.levelno >= logging.ERROR:
            errors.append(record)
        return record

    logging.setLogRecordFactory(make_and_keep)
    try:
        yield
    finally:
        logging.setLogRecordFactory(make_record)
    if errors and request.node.get_closest_marker("expects_error_log") is None:
        lines = "\n".join(f"{record.name}: {record.getMessage()}" for record in errors)
        pytest.fail(f"errors were logged:\n{lines}", pytrace=False)


@pytest.fixture(autouse=True, scope="module")
def no_handlers_left() -> Iterator[None]:
    """Takes away what libraries hang onto the root logger: it would see all later tests' logs."""
    root = logging.getLogger()
    before = root.handlers[:]
    yield
    root.handlers[:] = before
