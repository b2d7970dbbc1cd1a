// DuckDB, pyarrow, polars and pandas: what people read files of warehouses with. They are written for Python; the versions of
// readers/requirements.txt are installed once into the cache folder.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pythonWith, runPython } from './python.ts';
import type { Row, WrittenObject } from './warehouse-objects.ts';

const FOLDER = join(import.meta.dirname, 'readers');

export const PROGRAMS = ['duckdb', 'pyarrow', 'polars', 'pandas'] as const;
export type Program = (typeof PROGRAMS)[number];

/** Names of functions of readers/read.py: the reader, and whether it infers types (`plain`), is told that all is text, or reads Parquet. */
export type Reader = `${Program}_${'plain' | 'text' | 'parquet'}`;

interface Job {
  reader: Reader;
  object: WrittenObject;
}

type Failure = { error: string };

/** @returns the Python that has the readers @throws Error that says what to install */
export const installReaders = (): Promise<string> =>
  pythonWith({
    name: 'readers',
    what: 'DuckDB, pyarrow, polars and pandas',
    file: join(FOLDER, 'requirements.txt'),
  });

/** Reads objects. @returns results in the order of the jobs */
export const readWith = (python: string, jobs: Job[]): Promise<({ rows: Row[] } | Failure)[]> =>
  run(python, jobs, 'rows');

/** Reads objects and only counts their rows, which may nest too deeply for anything else. */
export const countWith = (python: string, jobs: Job[]): Promise<({ count: number } | Failure)[]> =>
  run(python, jobs, 'count');

/** The row with the times in some columns as ms since 1970, however a program writes them. */
export const withMoments = (row: Row, names: string[]): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, names.includes(name) ? moment(value) : value]));

/** Of a time as text, with a space or a T in it. */
const moment = (time: unknown): number | null =>
  time === null ? null : Date.parse(String(time).replace(/^(\S+) (\S+)$/, '$1T$2'));

async function run<Result>(python: string, jobs: Job[], what: 'rows' | 'count'): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-readers-'));
  try {
    const asked = jobs.map(({ reader, object }) => {
      const path = join(folder, basename(object.key));
      writeFileSync(path, object.body);
      return { reader, path, what };
    });
    const [jobsFile, resultsFile] = [join(folder, 'jobs'), join(folder, 'results')];
    writeFileSync(jobsFile, JSON.stringify(asked));
    const args = ['-W', 'ignore', join(FOLDER, 'read.py'), jobsFile, resultsFile];
    const { code, output } = await runPython(python, args, folder);
    if (code !== 0) throw new Error(`the readers ended with ${code}: ${output}`);
    return JSON.parse(readFileSync(resultsFile, 'utf8')) as Result[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
