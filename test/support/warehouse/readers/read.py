"""Reads files of warehouses as their users do: python read.py JOBS RESULTS.

JOBS holds [{"reader": "...", "path": "..."}]; RESULTS gets, in their order, {"rows": [...]} or {"error": "..."}.
"""

import importlib
import json
import multiprocessing
import sys

# Some readers do not fail on deep nesting, but do not come to an end either.
LIMIT_SECONDS = 15

COLUMNS = [
    "event_id",
    "delivery_id",
    "source",
    "route",
    "received_at",
    "written_at",
    "replay_of",
    "headers",
    "payload",
    "payload_encoding",
]


def is_array(path):
    return ".json" in path and ".jsonl" not in path


def rows_of(names, rows):
    return [dict(zip(names, row)) for row in rows]


def from_duckdb(sql, path):
    import duckdb

    found = duckdb.connect().execute(sql, [path])
    names = [column[0] for column in found.description]
    return rows_of(names, found.fetchall())


def duckdb_text(path):
    columns = ", ".join(f"{name}: 'VARCHAR'" for name in COLUMNS)
    return from_duckdb(f"select * from read_json(?, columns = {{{columns}}})", path)


def pyarrow_text(path):
    import pyarrow
    from pyarrow import json as arrow_json

    schema = pyarrow.schema([(name, pyarrow.string()) for name in COLUMNS])
    return arrow_json.read_json(
        path,
        read_options=arrow_json.ReadOptions(block_size=64 << 20),
        parse_options=arrow_json.ParseOptions(explicit_schema=schema),
    ).to_pylist()


def polars_text(path):
    import polars

    read = polars.read_json if is_array(path) else polars.read_ndjson
    return read(path, schema={name: polars.String for name in COLUMNS}).to_dicts()


def from_frame(frame):
    return [
        {name: None if value is None or value != value else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


def pandas_text(path):
    import pandas

    return from_frame(pandas.read_json(path, lines=not is_array(path), dtype=False))


def duckdb_parquet(path):
    return from_duckdb("select * from read_parquet(?)", path)


def pyarrow_parquet(path):
    from pyarrow import parquet

    return parquet.read_table(path).to_pylist()


def polars_parquet(path):
    import polars

    return polars.read_parquet(path).to_dicts()


def pandas_parquet(path):
    import pandas

    return from_frame(pandas.read_parquet(path))


def plain(rows):
    """As JSON can say it: times as text, numbers that are none by their names."""
    return json.loads(json.dumps(rows, default=str), parse_constant=str)


def read(job, answer):
    try:
        rows = globals()[job["reader"]](job["path"])
        answer.send({"rows": plain(rows)})
    # A panic of polars is no Exception.
    except BaseException as error:
        answer.send({"error": f"{type(error).__name__}: {str(error)[:500]}"})


def result_of(job):
    """In a process of its own: a reader may crash, or go on for ever."""
    received, answer = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=read, args=(job, answer))
    process.start()
    answer.close()
    try:
        if not received.poll(LIMIT_SECONDS):
            return {"error": f"nothing within {LIMIT_SECONDS} s"}
        return received.recv()
    except EOFError:
        return {"error": "the process ended"}
    finally:
        process.kill()
        process.join()


def load():
    """Once for all processes: it takes longer than to read, and starts no thread that a fork would lose."""
    for name in ("duckdb", "pandas", "polars", "pyarrow.json", "pyarrow.parquet"):
        importlib.import_module(name)


def main():
    multiprocessing.set_start_method("fork")
    load()
    with open(sys.argv[1], encoding="utf-8") as file:
        jobs = json.load(file)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump([result_of(job) for job in jobs], file)


main()
