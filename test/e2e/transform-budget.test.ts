// Deliveries with transforms wait when the budget of their organization is used up. That organizations take turns:
// test/security/neighbours-order.test.ts.
import { expect } from 'chai';
import { deliveriesOf, ingest, makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { createOrganization, sharedService, type TestOrganization, testPool } from '../support/service.ts';
import { busy, QUICK } from '../support/threads.ts';
import { until } from '../support/until.ts';
import { useOrganization, useReceiver } from '../support/use-hookyard.ts';

const SLOW = busy(3);
const AT_ONCE = 4;
const MOST_SENT = 100;

describe('the budget of transforms in deliveries', () => {
  const receiver = useReceiver();
  const modest = useOrganization();
  before(() => sharedService('worker'));

  async function transforming(organization: TestOrganization, code: string, url: string) {
    const [source, destination, transform] = await Promise.all([
      makeSource(organization),
      makeDestination(organization, { url }),
      organization.api.create('/api/transforms', { name: 'T', type: 'javascript', code }),
    ]);
    await makeRoute(organization, source.id, [destination.id], { transformId: transform.id });
    return source;
  }

  const limit = (organization: TestOrganization, limits: object) =>
    testPool().query('update organizations set limits = $2 where id = $1', [organization.id, limits]);

  it('wait when the budget of the organization is used up: visibly, not as failed attempts, and none is lost', async () => {
    const limited = await createOrganization();
    await limit(limited, { transformMsPerMinute: 400 });
    const [slow, quick] = [receiver.endpoint(200), receiver.endpoint(200)];
    const source = await transforming(limited, SLOW, slow.url);
    const unlimitedSource = await transforming(modest, QUICK, quick.url);
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
