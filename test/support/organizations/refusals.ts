// Refused webhooks as ingest knows them, and as the API shows them.
import { expect } from 'chai';
import type { Refused } from '../../../api/ingest/refusals.ts';
import { limitsOf } from '../../../core/fairness/organization-limits.ts';
import type { Json } from '../api-client.ts';
import type { EventOwner } from '../database/new-events.ts';
import type { TestOrganization } from '../service.ts';
import { until } from '../until.ts';

/** A webhook to a source that verifies nothing. */
export function arrivalTo({ organizationId, sourceId }: EventOwner): Refused {
  return {
    ...{ below: '', method: 'POST', headerBytes: { 'content-type': 'application/json' }, clientAddress: '192.0.2.1' },
    ...{ receivedAt: new Date(), body: Buffer.from('{}'), hasBody: true, cause: null },
    source: {
      ...{
        organizationId,
        sourceId,
        configVersion: 1,
        enabled: true,
        concealed: false,
        allowsPaths: false,
        routes: [],
        isGated: false,
      },
      sender: { verification: { kind: 'none' } },
      ...{ previous: null, idempotencyKey: null, answer: null, confirmsSubscriptions: false },
      ...{ handshakes: [], credentials: { secret: '' } },
      standing: { suspended: false, limits: limitsOf('business', {}) },
      tokens: { rule: 'none', current: null, previous: null },
    },
  };
}

export interface RefusalView extends Json {
  id: string;
  cause: string;
  headers: Record<string, string>;
}
interface CountView {
  cause: string;
  limit: string | null;
  count: number;
}
export interface RefusalsView {
  data: RefusalView[];
  pagination: { total: number };
  counts: { period: string; since: string; total: number; causes: (CountView & { lastAt: string })[]; steps: Json[] };
}

export const refusalsPath = ({ base }: Pick<TestOrganization, 'base'>, { id }: { id: string }) =>
  `${base}/sources/${id}/refusals`;

/** What is shown when so many have been counted, and are listed. */
export const refusalsOf = (of: TestOrganization, source: { id: string }, count: number, query = '') =>
  until(`${count} refusals`, async () => {
    const shown = await of.api.get<RefusalsView>(`${refusalsPath(of, source)}${query}`);
    return shown.counts.total >= count && shown.pagination.total >= count && shown;
  });

/** The only one of a source, with its payload. */
export async function onlyRefusal(of: TestOrganization, source: { id: string }): Promise<RefusalView> {
  const { data, counts } = await refusalsOf(of, source, 1, '?includePayload=true');
  const [refusal, ...others] = data;
  expect([others.length, counts.total]).to.deep.equal([0, 1]);
  if (!refusal) throw new Error('it was counted and not kept');
  expect(counts.causes).to.deep.equal([
    { cause: refusal.cause, limit: refusal.limit, count: 1, lastAt: refusal.refusedAt },
  ]);
  return refusal;
}
