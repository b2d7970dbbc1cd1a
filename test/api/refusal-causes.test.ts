import { expect } from 'chai';
import { ApiError } from '../../api/request/errors.ts';
import { refusalOf } from '../../api/ingest/refusals.ts';
import { type LimitChanges, setLimits, suspendOrganization } from '../../db/organizations/organizations.ts';
import { openConnection } from '../security/raw-connection.ts';
import type { Json } from '../support/api-client.ts';
import { makeSource, type SourceRecord } from '../support/api-records.ts';
import { type HttpAnswer, send } from '../support/requests/http-client.ts';
import { onlyRefusal } from '../support/organizations/refusals.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const MAX_PAYLOAD = 5000;
const GITHUB = { verificationConfig: { type: 'github', secret: 'a secret of sixteen bytes' } };
const WRONG = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };

interface RefusalCase {
  what: string;
  source?: object;
  limits?: LimitChanges;
  refuse: (url: string, of: TestOrganization) => Promise<HttpAnswer | undefined>;
  shown: { cause: string; limit?: string; status: number; payloadSize: number | null; payloadStart: string | null };
}

describe('Webhooks that are refused', () => {
  const { testInstance } = useHookyard({ settings: { HOOKYARD_MAX_PAYLOAD_BYTES: String(MAX_PAYLOAD) } });

  const newOrganization = () => createOrganization({ service: testInstance.api, pool: testInstance.pool });
  const here = ({ webhookUrl }: SourceRecord) => testInstance.api.url + new URL(webhookUrl).pathname;
  const post = (url: string, headers: Record<string, string> = {}, body: string | Buffer = '{}') =>
    send('POST', url, headers, body);

  describe('are shown with what came, and what the sender was told', () => {
    const cases: RefusalCase[] = [
      {
        what: 'a wrong signature',
        source: GITHUB,
        refuse: (url) => post(url, { ...WRONG, 'x-shop': 'north' }, '{"order":1}'),
        shown: { cause: 'signature', status: 401, payloadSize: 11, payloadStart: '{"order":1}' },
      },
      {
        what: 'a wrong signature of a concealed source, whose sender is told nothing',
        source: { ...GITHUB, concealed: true },
        refuse: (url) => post(url, WRONG),
        shown: { cause: 'signature', status: 404, payloadSize: 2, payloadStart: '{}' },
      },
      {
        what: 'an address without the token that the source requires',
        source: { ingestToken: 'required' },
        refuse: (url) => post(url.slice(0, url.lastIndexOf('/'))),
        shown: { cause: 'token', status: 404, payloadSize: 2, payloadStart: '{}' },
      },
      {
        what: 'a disabled source',
        source: { enabled: false },
        refuse: (url) => post(url),
        shown: { cause: 'disabled', status: 403, payloadSize: 2, payloadStart: null },
      },
      {
        what: 'a payload that is announced to be too large: nothing of it is read',
        refuse: (url) => post(url, {}, 'x'.repeat(MAX_PAYLOAD + 1)),
        shown: { cause: 'too_large', status: 413, payloadSize: MAX_PAYLOAD + 1, payloadStart: null },
      },
      {
        what: 'a payload that turns out to be too large',
        refuse: (url) => post(url, { 'transfer-encoding': 'chunked' }, 'x'.repeat(MAX_PAYLOAD + 1)),
        shown: { cause: 'too_large', status: 413, payloadSize: null, payloadStart: null },
      },
      {
        what: 'a payload that ends early',
        refuse: endEarly,
        shown: { cause: 'incomplete', status: 400, payloadSize: 10, payloadStart: null },
      },
      ...[
        { cause: 'limit', limit: 'eventsPerMonth', limits: { eventsPerMonth: 0 }, status: 429 },
        { cause: 'too_large', limit: 'payloadBytes', limits: { payloadBytes: 1 }, status: 413 },
      ].flatMap(({ limits, ...shown }): RefusalCase[] => [
        {
          what: `the limit ${shown.limit}, before the payload is read`,
          limits,
          refuse: (url) => post(url),
          shown: { ...shown, payloadSize: 2, payloadStart: null },
        },
        {
          what: `the limit ${shown.limit}, after the payload is read`,
          source: { ingestToken: 'required' },
          limits,
          refuse: (url) => post(url),
          shown: { ...shown, payloadSize: 2, payloadStart: '{}' },
        },
      ]),
      {
        what: 'a suspended organization, whose keys may read them',
        refuse: async (url, { id }) => {
          await suspendOrganization(testInstance.pool, id);
          return post(url);
        },
        shown: { cause: 'suspended', status: 403, payloadSize: 2, payloadStart: null },
      },
      {
        what: 'a service that takes nothing at the moment',
        refuse: async (url) => {
          const usual = testInstance.api;
          const full = await testInstance.startApi({ HOOKYARD_MAX_DATABASE_BYTES: '1' });
          testInstance.api = usual;
          const answer = await post(full.url + new URL(url).pathname);
          await full.stop();
          return answer;
        },
        shown: { cause: 'unavailable', status: 503, payloadSize: 2, payloadStart: null },
      },
    ];

    const refused = new Map<RefusalCase, { of: TestOrganization; source: SourceRecord; answer: Json | undefined }>();
    // All at once, because it takes seconds until they are shown.
    before(async () => {
      for (const each of cases) {
        const of = await newOrganization();
        if (each.limits) await setLimits(testInstance.pool, of.id, each.limits);
        refused.set(each, { of, source: await makeSource(of, each.source), answer: undefined });
      }
      const refuse = async (each: RefusalCase, { of, source }: { of: TestOrganization; source: SourceRecord }) => {
        const answer = await each.refuse(here(source), of);
        if (answer) expect(answer.status, each.what).to.equal(each.shown.status);
        refused.set(each, { of, source, answer: answer?.body });
      };
      await Promise.all([...refused].map(([each, to]) => refuse(each, to)));
    });

    for (const each of cases) {
      it(each.what, async () => {
        const { of, source, answer } = refused.get(each) ?? expect.fail('it was not refused');
        const refusal = await onlyRefusal(of, source);
        const received = { method: 'POST', clientAddress: '127.0.0.1', limit: null };
        expect(refusal).to.include({ ...received, ...(answer && { message: answer.message }), ...each.shown });
        expect(refusal.id).to.match(/^ref_/);
      });
    }

    /** Nobody is there to be answered. */
    async function endEarly(url: string): Promise<undefined> {
      const { socket } = await openConnection(Number(new URL(url).port));
      socket.write(`POST ${new URL(url).pathname} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n123`);
      // What was sent before has been read when another request is answered.
      for (let n = 0; n < 20; n += 1) await send('GET', new URL('/healthz', url).href);
      socket.destroy();
    }
  });

  it('have a cause whatever ends them', () => {
    const open = { cause: null };
    const causes = [
      refusalOf(new ApiError(408, 'REQUEST_TIMEOUT', 'slow'), open),
      refusalOf(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }), open),
      refusalOf(new TypeError('a mistake'), open),
    ].map(({ cause, status }) => [cause, status]);
    expect(causes).to.deep.equal([
      ['too_slow', 408],
      ['unavailable', 503],
      ['error', 500],
    ]);
    const { message } = refusalOf(new TypeError('a secret of the inside'), open);
    expect(message).to.not.include('secret');
  });
});
