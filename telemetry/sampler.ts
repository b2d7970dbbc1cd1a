// The figures of the whole installation: when somebody asks for metrics, this process reads what was taken last, and
// takes the next ones when it is the first to see that they are due. While nobody asks, nothing is read.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Settings } from '../core/config/config.ts';
import { ISSUE_KINDS } from '../core/messages/issues.ts';
import { type Log, throttled } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import {
  circuitsOpen,
  databaseLimit,
  databaseUp,
  type Figures,
  issuesOpen,
  SNAPSHOT_GAUGES,
  snapshotAge,
} from '../core/metrics/snapshot.ts';
import { takeFigures, claimSnapshot, readSnapshot, releaseSnapshot, writeSnapshot } from '../db/operations/figures.ts';
import type { RetentionDays } from '../db/operations/retention.ts';
import type { Pool } from '../db/connections/pool.ts';

// One row is read so often at most by each process.
const LOOK_EVERY_MS = 5000;
// How long who asks waits for it; then the figures before are shown.
const WAIT_MS = 1000;
// Figures are taken so often, and each time is followed by a rest of this many times its duration: a twentieth of a
// core at most.
const TAKE_EVERY_MS = 10_000;
const REST = 19;
// What is not taken by then is left out, and the claim outlasts what is under way then.
const TAKE_FOR_MS = 30_000;
const CLAIM_MS = 90_000;

export interface SamplerDeps {
  /** Not that of the hot path. */
  pool: Pool;
  settings: RetentionDays & Pick<Settings, 'HOOKYARD_MAX_DATABASE_BYTES'>;
  log: Log;
}

/** Failure policy: while the database is away, the last figures are shown, and hookyard_database_up is 0. */
export function startSampler({ pool, settings, log }: SamplerDeps) {
  const name = randomUUID();
  const ending = new AbortController();
  let figures: Figures = {};
  let takenAt: number | null = null;
  let isFailing = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    const snapshot = await readSnapshot(pool);
    figures = snapshot.figures;
    takenAt = snapshot.ageMs === null ? null : performance.now() - snapshot.ageMs;
    if (!snapshot.isDue || !(await claimSnapshot(pool, name, CLAIM_MS))) return;
    const began = performance.now();
    const onError = (error: unknown) => throttled(log).warn({ cause: causeOf(error) }, 'failed to read a metric');
    const enough = AbortSignal.any([ending.signal, AbortSignal.timeout(TAKE_FOR_MS)]);
    const taken = await takeFigures(pool, settings, onError, enough);
    if (ending.signal.aborted) return releaseSnapshot(pool, name);
    const restMs = Math.max(TAKE_EVERY_MS, (performance.now() - began) * REST);
    await writeSnapshot(pool, name, taken, restMs);
    figures = taken;
    takenAt = performance.now();
  }

  const stops = [
    ...Object.entries(SNAPSHOT_GAUGES).map(([figure, gauge]) =>
      gauge.readFrom(() => figures[figure as keyof typeof SNAPSHOT_GAUGES]),
    ),
    circuitsOpen.readFrom(() =>
      figures.circuits
        ? [
            [{ state: 'open' }, figures.circuits.open],
            [{ state: 'half_open' }, figures.circuits.half_open],
          ]
        : undefined,
    ),
    issuesOpen.readFrom(() =>
      figures.issues ? ISSUE_KINDS.map((kind) => [{ kind }, figures.issues?.[kind] ?? 0]) : undefined,
    ),
    databaseUp.readFrom(() => (isFailing ? 0 : 1)),
    databaseLimit.readFrom(() => settings.HOOKYARD_MAX_DATABASE_BYTES),
    snapshotAge.readFrom(() => (takenAt === null ? undefined : (performance.now() - takenAt) / 1000)),
  ];
  async function tryLook(): Promise<void> {
    try {
      await look();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ cause: causeOf(error) }, 'failed to update the metrics');
      isFailing = true;
    }
    lookedAt = performance.now();
    looking = undefined;
  }

  return {
    /** Call it before metrics are read. Resolves when they are up to date, or cannot be soon. */
    async refresh() {
      if (ending.signal.aborted) return;
      if (performance.now() - lookedAt >= LOOK_EVERY_MS) looking ??= tryLook();
      await Promise.race([looking, pause(WAIT_MS, undefined, { ref: false })]);
    },
    async stop() {
      ending.abort();
      for (const stop of stops) stop();
      await looking;
    },
  };
}
