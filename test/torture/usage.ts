// What a run uses: the memory of each process, from /proc where there is one, and the size of the databases.
import { readFileSync } from 'node:fs';
import type { Pool } from '../../db/connections/pool.ts';

const LOOK_EVERY_MS = 10_000;
// Until then a process loads and compiles; its growth counts from there on.
const SETTLED_MS = 60_000;

/** A process from its start to its end. Memory is what it has in RAM (RSS), bytes. */
export interface Life {
  pid: number;
  since: number;
  until: number;
  /** When it had settled; null: it did not live for so long. */
  settled: number | null;
  latest: number;
  highest: number;
}

export interface Usage {
  /** The lives of each process, by its name; a restart begins a new one. */
  lives: Map<string, Life[]>;
  /** Of all databases of the server, bytes; null: they could not be asked yet. */
  databases: { first: number | null; latest: number | null };
}

export type UsageWatch = ReturnType<typeof watchUsage>;

/**
 * Looks every ten seconds until `close`.
 * @param parts by name; of PostgreSQL one process would say nothing
 */
export function watchUsage(parts: Map<string, { pid: number | undefined }>, pool: Pool) {
  const usage: Usage = { lives: new Map(), databases: { first: null, latest: null } };
  /** Looks now. */
  const look = async () => {
    for (const [name, { pid }] of parts) if (pid !== undefined && name !== 'postgres') note(usage.lives, name, pid);
    const size = await sizeOfDatabases(pool);
    usage.databases.first ??= size;
    usage.databases.latest = size ?? usage.databases.latest;
  };
  void look();
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  return { usage, look, close: () => clearInterval(timer) };
}

function note(lives: Usage['lives'], name: string, pid: number): void {
  const memory = memoryOf(pid);
  if (memory === null) return;
  const all = lives.get(name) ?? [];
  lives.set(name, all);
  const now = performance.now();
  let life = all.at(-1);
  if (life?.pid !== pid) {
    life = { pid, since: now, until: now, settled: null, latest: memory, highest: memory };
    all.push(life);
  }
  life.until = now;
  life.latest = memory;
  life.highest = Math.max(life.highest, memory);
  if (now - life.since >= SETTLED_MS) life.settled ??= memory;
}

/** Null where there is no /proc, or no such process any more. */
function memoryOf(pid: number): number | null {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  } catch {
    return null;
  }
}

/** Null while the server is away. */
async function sizeOfDatabases(pool: Pool): Promise<number | null> {
  try {
    const { rows } = await pool.query<{ bytes: string }>(
      'select sum(pg_database_size(oid))::text as bytes from pg_database where not datistemplate',
    );
    return Number(rows[0]?.bytes);
  } catch {
    return null;
  }
}
