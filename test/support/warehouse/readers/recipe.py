"""Runs statements of docs/guide/warehouse-recipes.md: python recipe.py JOB RESULTS.

JOB holds {"engine": "duckdb", "clickhouse" or "python", "steps": [...]}; a step is {"run": "..."} or, for files that come later,
{"copy": [from, to]}. RESULTS gets a list with the rows of each step: of its last statement, or the ids of the events that the code
leaves in `events`.
"""

import json
import shutil
import sys


def duckdb_runner():
    import duckdb

    connection = duckdb.connect()
    return lambda text: connection.execute(text).fetchall()


def clickhouse_runner():
    import chdb

    connection = chdb.connect(":memory:")

    def run(text):
        rows = []
        for statement in text.split(";\n"):
            if statement.strip(" \n;"):
                answer = str(connection.query(statement.strip(" \n;"), "JSONCompactEachRow"))
                rows = [json.loads(line) for line in answer.splitlines() if line]
        return rows

    return run


def python_runner():
    def run(text):
        names = {}
        exec(text, names)
        events = names["events"]
        return sorted(zip(events["event_id"].to_list(), events["delivery_id"].to_list()))

    return run


RUNNERS = {"duckdb": duckdb_runner, "clickhouse": clickhouse_runner, "python": python_runner}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    run = RUNNERS[job["engine"]]()
    results = []
    for step in job["steps"]:
        if "copy" in step:
            shutil.copytree(*step["copy"], dirs_exist_ok=True)
            results.append([])
        else:
            results.append(run(step["run"]))
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(results, file, default=str)


main()
