// Deliveries with transforms: those of one organization take turns with another's, and wait when its budget is used up.
import { expect } from 'chai';
import { deliveriesOf, ingest, makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { createOrganization, sharedService, type TestOrganization, testPool } from '../support/service.ts';
import { busy, QUICK } from '../support/transforms.ts';
import { until } from '../support/until.ts';

const SLOW = busy(3);
const VERY_SLOW = busy(5);
const MANY = 60;
const AT_ONCE = 4;
const MOST_SENT = 100;

describe('turns of transforms in deliveries', () => {
  let receiver: Receiver;
  let greedy: TestOrganization;
  let modest: TestOrganization;
  before(async () => {
    [receiver] = await Promise.all([startReceiver(), sharedService('worker')]);
    [greedy, modest] = await Promise.all([createOrganization(), createOrganization()]);
  });
  after(() => receiver.close());

  const transformOf = (organization: TestOrganization, code: string) =>
    organization.api.create('/api/transforms', { name: 'T', type: 'javascript', code });

  /** A source, and routes from it that each have a transform and a destination of their own. */
  async function pipes(organization: TestOrganization, count: number, code: string, url: string) {
    const source = await makeSource(organization);
    for (let n = 0; n < count; n += 1) {
      const [transform, destination] = await Promise.all([
        transformOf(organization, code),
        makeDestination(organization, { url: `${url}?n=${n}` }),
      ]);
      await makeRoute(organization, source.id, [destination.id], { transformId: transform.id });
    }
    return source;
  }

  const limit = (organization: TestOrganization, limits: object) =>
    testPool().query('update organizations set limits = $2 where id = $1', [organization.id, limits]);

  it('go round the organizations: one delivery is not behind 60 slow transforms of another', async () => {
    // On a slow machine they need more than the plan's budget.
    await limit(greedy, { transformMsPerMinute: 120_000 });
    const [one, other] = [receiver.endpoint(200), receiver.endpoint(200)];
    const [from, quick] = [await pipes(greedy, MANY, VERY_SLOW, one.url), await pipes(modest, 1, QUICK, other.url)];
    const event = await ingest(greedy, from, '{}');
    await until('the first of many', () => one.requests.length > 0);
    await ingest(modest, quick, '{}');
    await until('the one delivery', () => other.requests.length === 1);
    expect(one.requests.length, 'of the 60').to.be.below(MANY * 0.75);
    const ended = async () =>
      (await deliveriesOf(greedy, event)).every(({ status }) => ['delivered', 'failed'].includes(status));
    await until('the others to end', ended, 240_000);
  });

  it('wait when the budget of the organization is used up: visibly, not as failed attempts, and none is lost', async () => {
    const limited = await createOrganization();
    await limit(limited, { transformMsPerMinute: 400 });
    const [slow, quick] = [receiver.endpoint(200), receiver.endpoint(200)];
    const [source, unlimitedSource] = [
      await pipes(limited, 1, SLOW, slow.url),
      await pipes(modest, 1, QUICK, quick.url),
    ];
    const events: string[] = [];
    const sendOne = async () => {
      const event = await ingest(limited, source, '{}');
      events.push(event);
      return until('a delivery, or its wait', async () => {
        const [delivery] = await deliveriesOf(limited, event);
        return delivery && (delivery.status === 'delivered' || delivery.nextAttemptAt !== null) ? delivery : undefined;
      });
    };
    const waiting: Awaited<ReturnType<typeof sendOne>>[] = [];
    // Some together: they need more than is earned meanwhile, on a slow machine too.
    while (waiting.length < 3 && events.length < MOST_SENT) {
      const seen = await Promise.all(Array.from({ length: AT_ONCE }, sendOne));
      waiting.push(...seen.filter(({ status }) => status !== 'delivered'));
    }
    expect(waiting).to.have.lengthOf.at.least(3);
    for (const each of waiting) expect(each).to.include({ status: 'pending', attemptCount: 0, error: null });
    await ingest(modest, unlimitedSource, '{}');
    await until('a delivery of another organization', () => quick.requests.length === 1);

    await limit(limited, {});
    const looks = () => Promise.all(events.map(async (event) => (await deliveriesOf(limited, event))[0]));
    await until(
      'all to be delivered',
      async () => (await looks()).every((each) => each?.status === 'delivered'),
      180_000,
    );
    expect(slow.requests).to.have.length(events.length);
    for (const each of await looks()) expect(each).to.include({ attemptCount: 1 });
  });
});
