// How large Hookyard's database may get on the disk of this machine, where no setting says it: ingest then answers 503 while the
// disk still has room for Temporal's databases, WAL and vacuum, and no organization fills it for the others.
import { statfs } from 'node:fs/promises';
import type { Queryable } from '../../db/connections/pool.ts';
import { databaseBytes } from '../../db/delivery/backlog.ts';

/** Of what the database and the free space are together: with one start after the other it stays the same. */
const PART = 0.9;

/** @param dataDir the data folder of the embedded PostgreSQL @returns bytes */
export async function databaseLimit(db: Queryable, dataDir: string): Promise<number> {
  const [size, { bavail, bsize }] = await Promise.all([databaseBytes(db), statfs(dataDir)]);
  return Math.floor((size + bavail * bsize) * PART);
}
