// Hostile input on its way through a worker: transforms in every language, filters, headers and paths that travel on.
// The worker lives, its event loop is never held for long, and every delivery ends.
import { expect } from 'chai';
import fc from 'fast-check';
import { TRANSFORM_TYPES } from '../../core/config/transform-types.ts';
import { expectAlive, seed, tryFor } from '../support/attacks/fuzzing.ts';
import { body, headers, query } from '../support/attacks/hostile-input.ts';
import { send } from '../support/requests/http-client.ts';
import { LOOP_WATCH } from '../support/attacks/loop-watch.ts';
import { Records, type SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const BODIES_MS = 5000;
const AT_ONCE = 5;
/** Each reads all of the payload, and makes something of it. */
const CODE: Record<(typeof TRANSFORM_TYPES)[number], string> = {
  javascript:
    'export default ({ payload, headers }) => ({ text: JSON.stringify(payload).split("a").length, headers, payload })',
  jsonata: '{ "keys": $count($keys(payload)), "all": payload.**.sku, "payload": payload }',
  liquid: '{% for one in payload.items %}{{ one.sku | upcase }},{% endfor %}{{ payload | json }}',
};

describe('Hostile input in a worker', () => {
  const { testInstance, receiver } = useHookyard({});
  let source: SourceView;
  let isAlive: ReturnType<typeof expectAlive>;

  before(async () => {
    process.stdout.write(`    FUZZ_SEED=${seed}\n`);
    const worker = await testInstance.startWorker(LOOP_WATCH);
    const records = new Records(testInstance);
    source = await records.source({ allowPaths: true });
    for (const type of TRANSFORM_TYPES) {
      const { id: transformId } = await testInstance.client.create('/api/transforms', {
        name: type,
        type,
        code: CODE[type],
      });
      const travelling = { forwardHeaders: 'all', forwardQuery: true, forwardPath: true };
      const { id } = await records.destination(receiver.endpoint(200).url, { ...travelling, name: type });
      await records.route(source.id, [id], { name: type, transformId, circuitFailureThreshold: 10_000 });
    }
    // Whatever is loaded with the first delivery is.
    await ended([await records.accepted(source, '{"items":[{"sku":"a"}]}')]);
    isAlive = expectAlive(worker);
  });

  const ended = (eventIds: string[]) =>
    until('every delivery to end', async () => {
      const { rows } = await testInstance.pool.query<{ open: number }>(
        `select count(*)::int as open from deliveries
         where event_id = any($1) and status not in ('delivered', 'failed', 'filter_failed', 'schema_failed')`,
        [eventIds],
      );
      return rows[0]?.open === 0;
    });

  it('ends every delivery, and holds the loop for no long turn', async () => {
    const { pathname } = new URL(source.webhookUrl);
    let accepted = 0;
    await tryFor(
      BODIES_MS,
      fc.asyncProperty(
        fc.array(fc.tuple(body, query, headers), { minLength: AT_ONCE, maxLength: AT_ONCE }),
        async (webhooks) => {
          const answers = await Promise.all(
            webhooks.map(([make, text, sent]) =>
              send<{ eventId?: string }>(
                'POST',
                `${testInstance.api.url}${pathname}/below?${text.slice(0, 2000)}`,
                { 'content-type': 'application/json', ...sent },
                make(),
              ).catch(() => null),
            ),
          );
          const ids = answers.flatMap((answer) => answer?.body?.eventId ?? []);
          accepted += ids.length;
          await ended(ids);
          const sizes = webhooks.map(([make]) => make().length);
          await isAlive(`bodies of ${sizes.join(', ')} bytes`);
        },
      ),
    );
    expect(accepted, 'webhooks that were delivered').to.be.at.least(AT_ONCE);
  });
});
