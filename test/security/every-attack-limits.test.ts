// The attacks of docs/security.md that the limits of an organization stop, each in short and in every run: the one at its limit is
// refused, by name and with Retry-After, and the other is served.
import { expect } from 'chai';
import type { LimitName } from '../../core/fairness/limits.ts';
import type { Answer } from '../support/api-client.ts';
import { deliveryOf, forgetQueued, makeDestination } from '../support/api-records.ts';
import { countOf, expectLimited, quotaRequests, quotaTenant, type Tenant } from '../support/quotas.ts';
import { type Service, sharedService, testPool } from '../support/service.ts';
import { times } from '../support/times.ts';

const AT_ONCE = 8;
const IN_A_MINUTE = 10;
const URL_OF_NOBODY = 'https://crm.example/';
const NOTHING = { routes: [], conflictStrategy: 'skip' };

describe('Every attack by number, in short', () => {
  let api: Service;
  let limited: Tenant;
  let other: Tenant;
  const shared = () => ({ api, pool: testPool() });
  before(async () => {
    api = await sharedService('api');
  });
  beforeEach(async () => {
    [limited, other] = await Promise.all([quotaTenant(shared()), quotaTenant(shared())]);
  });
  afterEach(() => Promise.all([limited, other].map(forgetQueued)));

  const { limit, webhook, webhooks } = quotaRequests(() => ({ testInstance: shared(), limited }));

  it('webhooks of a month: as many as may be are taken', async () => {
    await limit({ eventsPerMonth: 3 });
    const [flood, others] = await Promise.all([webhooks(limited, AT_ONCE), webhooks(other, AT_ONCE)]);
    expect(countOf(flood, 200)).to.equal(3);
    for (const answer of flood) if (answer.status !== 200) expectLimited(answer, 'eventsPerMonth');
    expect(countOf(others, 200)).to.equal(AT_ONCE);
  });

  const forWebhooks: [LimitName, number][] = [
    ['eventsPerSecond', 0],
    ['storedBytes', 1],
    ['waitingDeliveries', 0],
    ['deliveriesPerEvent', 0],
  ];
  for (const [name, most] of forWebhooks) {
    it(`webhooks beyond ${name}`, async () => {
      await limit({ [name]: most });
      expectLimited(await webhook(limited), name);
      expect((await webhook(other)).status).to.equal(200);
    });
  }

  it('management requests of a minute: those of another organization are answered', async () => {
    await limit({ requestsPerMinute: IN_A_MINUTE });
    const ask = (of: Tenant) => Promise.all(times(3 * IN_A_MINUTE, () => of.api.request('GET', '/api/auth/me')));
    const [mine, others] = await Promise.all([ask(limited), ask(other)]);
    expect(countOf(others, 200)).to.equal(3 * IN_A_MINUTE);
    const refused = mine.filter(({ status }) => status !== 200);
    // Twice as many may pass where a minute ends in between.
    expect(refused.length).to.be.at.least(IN_A_MINUTE);
    for (const answer of refused) expectLimited(answer, 'requestsPerMinute');
  });

  it('records that are created at once: no more than there may be', async () => {
    await limit({ destinations: 3 });
    const create = (of: Tenant, n: number) =>
      of.api.request('POST', '/api/destinations', { name: `D ${n}`, url: URL_OF_NOBODY });
    const answers = await Promise.all(times(AT_ONCE, (n) => create(limited, n)));
    expect(countOf(answers, 201), 'beside the one there is').to.equal(2);
    for (const answer of answers) if (answer.status !== 201) expectLimited(answer, 'destinations');
    expect((await create(other, 0)).status).to.equal(201);
    const destinations = [{ name: 'Imported', slug: 'imported', url: URL_OF_NOBODY }];
    const file = { destinations, conflictStrategy: 'skip' };
    expectLimited(await limited.api.request('POST', '/api/destinations/import', file), 'destinations');
  });

  async function testDestination(of: Tenant): Promise<Answer> {
    const { id } = await makeDestination(of, { url: 'http://127.0.0.1:1/' });
    return of.api.request('POST', `/api/destinations/${id}/test`);
  }

  const running: [LimitName, (of: Tenant) => Promise<Answer>][] = [
    ['runningImports', ({ api: of }) => of.request('POST', '/api/routes/import', NOTHING)],
    ['runningSearches', ({ api: of, base }) => of.request('GET', `${base}/events?search=paid`)],
    ['runningTests', testDestination],
    ['runningReplays', ({ api: of, base }) => of.request('POST', `${base}/events/replay`, { all: true })],
  ];
  for (const [name, request] of running) {
    it(`more than ${name}`, async () => {
      await limit({ [name]: 0 });
      expectLimited(await request(limited), name);
      expect((await request(other)).status).to.equal(200);
    });
  }

  it('replays when nothing more may wait', async () => {
    const eventId = String((await webhook(limited)).body.eventId);
    // What is open is not replayed.
    await limited.api.request('POST', `/api/deliveries/${(await deliveryOf(limited, eventId)).id}/cancel`);
    await limit({ waitingDeliveries: 0 });
    const replay = await limited.api.request('POST', `${limited.base}/events/${eventId}/replay`);
    expectLimited(replay, 'waitingDeliveries');
    expect((await limited.api.list('/api/deliveries')).pagination.total, 'nothing was replayed').to.equal(1);
    expect((await webhook(other)).status).to.equal(200);
  });
});
