// DuckDB, pyarrow, polars and pandas: what people read files of warehouses with. They are written for Python; the
// versions of readers/requirements.txt are installed once into the cache folder.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pythonWith, runPython } from '../programs/python.ts';
import type { Row, WrittenObject } from './warehouse-objects.ts';

const FOLDER = join(import.meta.dirname, 'readers');

export const PROGRAMS = ['duckdb', 'pyarrow', 'polars', 'pandas'] as const;
export type Program = (typeof PROGRAMS)[number];

/** Names of functions of readers/read.py: the reader, and whether it is told that all is text, or reads Parquet. */
export type Reader = `${Program}_${'text' | 'parquet'}`;

interface Job {
  reader: Reader;
  object: WrittenObject;
}

type Failure = { error: string };

/** @returns the Python that has the readers @throws Error that says what to install */
export const installReaders = (): Promise<string> =>
  pythonWith({ name: 'readers', what: 'DuckDB, pyarrow, polars and pandas', file: join(FOLDER, 'requirements.txt') });

/** @returns the Python that has ClickHouse as a library @throws Error that says what to install */
export const installClickHouse = (): Promise<string> =>
  pythonWith({ name: 'clickhouse', what: 'ClickHouse', file: join(FOLDER, 'clickhouse.txt') });

/** Statements or code of a page, or files that come meanwhile. */
export type Step = { run: string } | { copy: [from: string, to: string] };

/** Runs steps one after the other, with one connection. @returns the rows of each */
export async function runRecipe(
  python: string,
  engine: 'duckdb' | 'clickhouse' | 'python',
  steps: Step[],
): Promise<unknown[][][]> {
  return inFolder(async (folder) => {
    const [job, results] = [join(folder, 'job'), join(folder, 'results')];
    writeFileSync(job, JSON.stringify({ engine, steps }));
    await mustRun(python, [join(FOLDER, 'recipe.py'), job, results], folder);
    return JSON.parse(readFileSync(results, 'utf8')) as unknown[][][];
  });
}

/** Reads objects. @returns results in the order of the jobs */
export async function readWith(python: string, jobs: Job[]): Promise<({ rows: Row[] } | Failure)[]> {
  return inFolder(async (folder) => {
    const asked = jobs.map(({ reader, object }) => {
      const path = join(folder, basename(object.key));
      writeFileSync(path, object.body);
      return { reader, path };
    });
    const [jobsFile, resultsFile] = [join(folder, 'jobs'), join(folder, 'results')];
    writeFileSync(jobsFile, JSON.stringify(asked));
    await mustRun(python, [join(FOLDER, 'read.py'), jobsFile, resultsFile], folder);
    return JSON.parse(readFileSync(resultsFile, 'utf8')) as ({ rows: Row[] } | Failure)[];
  });
}

async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-readers-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function mustRun(python: string, args: string[], folder: string): Promise<void> {
  const { code, output } = await runPython(python, ['-W', 'ignore', ...args], folder);
  if (code !== 0) throw new Error(`${basename(args[0] ?? '')} ended with ${code}: ${output}`);
}
