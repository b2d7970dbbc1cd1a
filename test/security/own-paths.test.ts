// A destination outside of HOOKYARD_PUBLIC_URL, to which a stranger adds the path by which it would lead back here.
import { expect } from 'chai';
import { type HttpAnswer, send } from '../support/requests/http-client.ts';
import type { Accepted } from '../support/records.ts';
import { useHookyard } from '../support/use-hookyard.ts';

// Nothing listens there: what is refused is not tried.
const HOST = 'http://127.0.0.1:9';

describe('paths that lead back to Hookyard', () => {
  const { testInstance, records } = useHookyard({ settings: { HOOKYARD_PUBLIC_URL: `${HOST}/hooks` }, workers: [{}] });

  it('end their deliveries without an attempt, unless the route allows its own address', async () => {
    const source = await records.source({ allowPaths: true });
    const destination = await records.destination(`${HOST}/`, { forwardPath: true });
    await records.route(source.id, [destination.id], { circuitFailureThreshold: 100 });
    const below = new URL(source.webhookUrl).pathname;
    const sendTo = async (path: string) => {
      const url = `${testInstance.client.url}${below.slice('/hooks'.length)}${path}`;
      const answer: HttpAnswer<Accepted> = await send('POST', url, {}, '{}');
      return records.deliveryWith('failed', answer.body.eventId);
    };
    const back = await sendTo(below);
    expect(back.attemptCount).to.equal(0);
    expect(back.error).to.include('HOOKYARD_PUBLIC_URL').and.include('allowOwnAddress');
    expect((await sendTo('/elsewhere')).attemptCount).to.equal(1);
  });
});
