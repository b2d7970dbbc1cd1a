// All instruments, for exporters; their help texts are the reference of metrics (docs/operate/monitoring.md).
import * as deliveries from './deliveries.ts';
import * as ingest from './ingest.ts';
import { type AnyInstrument, Counter, Gauge, Histogram } from './instruments.ts';
import * as process from './process.ts';
import * as services from './services.ts';
import * as snapshot from './snapshot.ts';

function isInstrument(value: unknown): value is AnyInstrument {
  return value instanceof Counter || value instanceof Gauge || value instanceof Histogram;
}

const exported: unknown[] = [ingest, deliveries, services, snapshot, snapshot.SNAPSHOT_GAUGES, process].flatMap(
  (module) => Object.values<unknown>(module),
);

/** In the order in which they are documented and exported. */
export const instruments: readonly AnyInstrument[] = exported.filter(isInstrument);
