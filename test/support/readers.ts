// DuckDB, pyarrow, polars and pandas: what people read files of warehouses with. They are written for Python; the versions of
// readers/requirements.txt are installed once into the cache folder.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pythonWith, runPython } from './python.ts';
import type { Row, WrittenObject } from './warehouse-objects.ts';

const FOLDER = join(import.meta.dirname, 'readers');

/** Names of functions of readers/read.py: the reader, and whether it infers types (`plain`) or is told that all is text. */
export type Reader = `${'duckdb' | 'pyarrow' | 'polars' | 'pandas'}_${'plain' | 'text'}`;

export type ReadResult = { rows: Row[] } | { error: string };

/** @returns the Python that has the readers @throws Error that says what to install */
export const installReaders = (): Promise<string> =>
  pythonWith({
    name: 'readers',
    what: 'DuckDB, pyarrow, polars and pandas',
    file: join(FOLDER, 'requirements.txt'),
  });

/** Reads each object with each reader. @returns results by the order of the jobs */
export async function readWith(
  python: string,
  jobs: { reader: Reader; object: WrittenObject }[],
): Promise<ReadResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-readers-'));
  try {
    const asked = jobs.map(({ reader, object }) => {
      const path = join(folder, basename(object.key));
      writeFileSync(path, object.body);
      return { reader, path };
    });
    const [jobsFile, resultsFile] = [join(folder, 'jobs'), join(folder, 'results')];
    writeFileSync(jobsFile, JSON.stringify(asked));
    const { code, output } = await runPython(python, [join(FOLDER, 'read.py'), jobsFile, resultsFile], folder);
    if (code !== 0) throw new Error(`the readers ended with ${code}: ${output}`);
    return JSON.parse(readFileSync(resultsFile, 'utf8')) as ReadResult[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
