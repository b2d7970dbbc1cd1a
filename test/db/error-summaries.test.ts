import { expect } from 'chai';
import { ownWords } from '../../core/text/error-summary.ts';
import { loadAttempts } from '../../db/hot-path/load-attempts.ts';
import { recordResults } from '../../db/hot-path/record-results.ts';
import { resumePoints } from '../../db/delivery/reconciliation.ts';
import { attemptResult, makeOwner, storeEvent, firstRoute } from '../support/database/history.ts';
import { useHistoryDatabase, useMade } from '../support/use-hookyard.ts';

const SECRET = { summary: ownWords`The transform Slim failed; see the details in the API`, detail: 'cannot use 4711' };

describe('summaries of errors', () => {
  const { pool } = useHistoryDatabase(1);
  const owner = useMade('an owner', () => makeOwner(pool, 1, 1));
  before(() => pool.query(`update routes set notify_emails = 'ops@example.com', notify_on_failure = true`));

  async function newDelivery() {
    const route = firstRoute(owner);
    const event = await storeEvent(pool, owner, route, { receivedAt: new Date(), statuses: ['pending'] });
    const [delivery] = event.deliveries;
    if (!delivery) throw new Error('The event has no delivery');
    return { event, delivery, routeId: route.id };
  }

  type Made = Awaited<ReturnType<typeof newDelivery>>;

  const loadedOf = async ({ event, delivery }: Made) =>
    (await loadAttempts(pool, [{ deliveryId: delivery.id, eventId: event.id }])).get(delivery.id)?.error;
  const storedOf = async ({ delivery }: Made) =>
    (await pool.query<{ error: string }>('select error from deliveries where id = $1', [delivery.id])).rows[0]?.error;

  async function retryLater(): Promise<Made> {
    const made = await newDelivery();
    const result = attemptResult(made.event, made.delivery, { status: 'retrying' });
    await recordResults(pool, [{ ...result, error: SECRET, retryInMs: 60_000 }]);
    return made;
  }

  it('are read of an attempt, and of what a lost workflow continues from; the row keeps the detail', async () => {
    const made = await retryLater();
    expect(await loadedOf(made)).to.equal(SECRET.summary);
    const points = await resumePoints(pool, [made.delivery.id]);
    expect(points.get(made.delivery.id)).to.include({ error: SECRET.summary });
    expect(await storedOf(made)).to.equal(SECRET.detail);
  });
});
