// Two organizations of which one has limits, and what they are told.
import { expect } from 'chai';
import type { LimitName } from '../../../core/fairness/organization-limits.ts';
import { type LimitChanges, setLimits } from '../../../db/organizations/organizations.ts';
import type { Answer } from '../api-client.ts';
import { makePipeline, type SourceRecord } from '../api-records.ts';
import type { OwnHookyard } from '../hookyard.ts';
import { type HttpAnswer, send } from '../requests/http-client.ts';
import { createOrganization, type Service, type TestOrganization } from '../service.ts';

interface UsageAnswer {
  plan: string;
  limits: Record<LimitName, { limit: number | null; used: number | null; unit: string }>;
  month: { from: string; events: number; payloadBytes: number };
}

export interface Tenant extends TestOrganization {
  source: SourceRecord;
}

const HOUR_SECONDS = 3600;

/** An organization with a source, from which a route leads to a destination. */
export async function quotaTenant({ api, pool }: Pick<OwnHookyard, 'api' | 'pool'>): Promise<Tenant> {
  const organization = await createOrganization({ service: api, pool });
  return { ...organization, source: (await makePipeline(organization)).source };
}

/** @param on what the tests are about at the moment */
export function quotaRequests(on: () => { testInstance: Pick<OwnHookyard, 'api' | 'pool'>; limited: Tenant }) {
  const limit = (changes: LimitChanges) => setLimits(on().testInstance.pool, on().limited.id, changes);
  const webhook = (to: Tenant, body = '{}', { url }: Pick<Service, 'url'> = on().testInstance.api) =>
    send('POST', `${url}/ingest/${to.slug}/${to.source.slug}`, { 'content-type': 'application/json' }, body);
  const webhooks = (to: Tenant, count: number) => Promise.all(Array.from({ length: count }, () => webhook(to)));
  const usage = (of: TestOrganization) => of.api.get<UsageAnswer>('/api/organization/usage');
  const used = async (name: LimitName, of: TestOrganization = on().limited) => (await usage(of)).limits[name].used;
  const storedEvents = async (of: TestOrganization) =>
    (await of.api.list(`${of.base}/events?pageSize=1`)).pagination.total;
  return { limit, webhook, webhooks, usage, used, storedEvents };
}

export const countOf = (answers: { status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

export function expectLimited(answer: HttpAnswer | Answer, name: LimitName): void {
  expect(answer.status, JSON.stringify(answer.body)).to.equal(429);
  expect(answer.body).to.include({ code: 'LIMIT_EXCEEDED', limit: name });
  expect(answer.body.message).to.include(name);
  const header = answer.headers instanceof Headers ? answer.headers.get('retry-after') : answer.headers['retry-after'];
  expect(Number(header)).to.be.within(1, HOUR_SECONDS);
}
