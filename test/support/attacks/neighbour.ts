// What everyone else sees of a process while somebody asks a lot of it.
import { setTimeout as delay } from 'node:timers/promises';
import { makeSource, type SourceRecord } from '../api-records.ts';
import { send } from '../requests/http-client.ts';
import { createOrganization, type Service, type TestOrganization } from '../service.ts';

export interface Seen {
  /** Answers of the probe, and of webhooks of another organization. */
  answers: number;
  /** The longest that one of them took, in ms. */
  longestMs: number;
}

/** Another organization with a source that stores what it gets. */
export interface Neighbour {
  organization: TestOrganization;
  source: SourceRecord;
  /** Sends webhooks and asks the probe, one after the other, until the work is done. */
  during<Result>(work: () => Promise<Result>): Promise<{ result: Result; seen: Seen }>;
}

export async function makeNeighbour(service: Service): Promise<Neighbour> {
  const organization = await createOrganization({ service });
  const source = await makeSource(organization);
  const ask = async (seen: Seen) => {
    for (const [method, path] of [
      ['GET', '/healthz'],
      ['POST', `/ingest/${organization.slug}/${source.slug}`],
    ] as const) {
      const startedAt = performance.now();
      const body = method === 'POST' ? '{"a":1}' : undefined;
      const answer = await send(method, service.url + path, { 'content-type': 'application/json' }, body);
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
      seen.longestMs = Math.max(seen.longestMs, performance.now() - startedAt);
      seen.answers += 1;
    }
  };
  // The first one reads the configuration.
  await ask({ answers: 0, longestMs: 0 });
  return {
    organization,
    source,
    async during(work) {
      const seen: Seen = { answers: 0, longestMs: 0 };
      let isDone = false;
      const asking = (async () => {
        while (!isDone) {
          await ask(seen);
          // Not a load, but a look.
          await delay(5);
        }
      })();
      try {
        return { result: await work(), seen };
      } finally {
        isDone = true;
        await asking;
      }
    },
  };
}
