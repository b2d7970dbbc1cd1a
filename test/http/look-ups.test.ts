import { expect } from 'chai';
import { createLookUps, lookUpSlots, type Resolve } from '../../outbound/http/guarded-connect.ts';
import { until } from '../support/until.ts';
import { asError, asResponse, closedAfterEach, request } from './senders.ts';
import { httpServer } from './servers.ts';

/** A resolver for which nothing answers names that begin so; each is a thread that is taken. */
function withHanging(prefix: string) {
  const asked: string[] = [];
  const hanging = new Map<string, () => void>();
  const resolve: Resolve = (hostname, callback) => {
    asked.push(hostname);
    const answer = () => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    if (hostname.startsWith(prefix)) hanging.set(hostname, answer);
    else process.nextTick(answer);
  };
  return { asked, hanging, resolve };
}

describe('look-ups of names', () => {
  const open = closedAfterEach();

  it('of one organization that nothing answers leave slots to others, and theirs are taken in turn', async () => {
    const { asked, hanging, resolve } = withHanging('hanging');
    const lookUp = createLookUps({ resolve, slots: 6, waitMs: 60_000 });
    const hung = Array.from({ length: 20 }, (_, n) => lookUp(`hanging-${n}.example`, 'org_many'));
    for (let n = 0; n < 10; n += 1) {
      expect(await lookUp(`quick-${n}.example`, 'org_few')).to.deep.equal([{ address: '127.0.0.1', family: 4 }]);
    }
    expect(asked.filter((name) => name.startsWith('hanging'))).to.have.length(4);
    for (let answered = 0; answered < 20; answered += 1) {
      const next = await until('the next one', () => [...hanging.keys()][0]);
      hanging.get(next)?.();
      hanging.delete(next);
    }
    await Promise.all(hung);
    expect(asked).to.have.length(30);
  });

  it('of the same name are one, whoever asks', async () => {
    const { asked, hanging, resolve } = withHanging('hanging');
    const lookUp = createLookUps({ resolve, slots: 6, waitMs: 60_000 });
    const all = Array.from({ length: 20 }, (_, n) => lookUp('hanging.example', `org_${n % 2}`));
    await until('the first', () => hanging.size === 1);
    const other = await lookUp('quick.example', 'org_1');
    expect(other).to.have.length(1);
    hanging.get('hanging.example')?.();
    for (const found of await Promise.all(all)) expect(found).to.have.length(1);
    expect(asked).to.deep.equal(['hanging.example', 'quick.example']);
  });

  it('end in time, and a name that was not answered in that time is not waited for again', async () => {
    const { asked, hanging, resolve } = withHanging('hanging');
    const lookUp = createLookUps({ resolve, slots: 6, waitMs: 200 });
    const failure = (name: string) =>
      lookUp(name, 'org_1').then(
        () => null,
        ({ code }: NodeJS.ErrnoException) => code,
      );
    const codes = await Promise.all(Array.from({ length: 8 }, (_, n) => failure(`hanging-${n}.example`)));
    expect(new Set(codes)).to.deep.equal(new Set(['EAI_AGAIN']));
    expect(asked, 'the slots are taken until there is an answer').to.have.length(4);
    expect(await failure('hanging-0.example')).to.equal('EAI_AGAIN');
    expect(asked).to.have.length(4);
    hanging.get('hanging-0.example')?.();
    expect(await failure('quick.example'), 'a slot is free').to.equal(null);
  });

  it('that fail are told as the resolver does, and leave their slot', async () => {
    const resolve: Resolve = (hostname, callback) =>
      callback(Object.assign(new Error(`no ${hostname}`), { code: 'ENOTFOUND' }), []);
    const lookUp = createLookUps({ resolve, slots: 1, waitMs: 60_000 });
    for (let n = 0; n < 3; n += 1) {
      const error = await lookUp('gone.example', 'org_1').catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: 'ENOTFOUND' });
    }
  });

  it('are those of the organization whose request it is', async () => {
    const { asked, resolve } = withHanging('hanging');
    const port = await httpServer((_req, res) => res.end('ok'));
    const lookUp = createLookUps({ resolve, slots: 2, waitMs: 1000 });
    const sender = open({ lookUp });
    const sent = (organizationId: string, host: string, timeoutMs = 10_000) =>
      sender.send(request(`http://${host}:${port}`, { organizationId, poolKey: host, timeoutMs }));
    const hung = await Promise.all([1, 2, 3].map((n) => sent('org_many', `hanging-${n}.example`, 300)));
    for (const result of hung) expect(asError(result)).to.include({ code: 'TIMEOUT' });
    expect(asked).to.deep.equal(['hanging-1.example']);
    expect(asResponse(await sent('org_few', 'quick.example')).bodyText).to.equal('ok');
    const late = asError(await sent('org_many', 'quick-too.example', 300));
    expect(late.code).to.equal('TIMEOUT');
  });

  it('have as many slots as there are threads for them, but for two', () => {
    // libuv: half of the threads, rounded up.
    for (const [threads, slots] of [
      [undefined, 1],
      ['1', 1],
      ['4', 1],
      ['8', 2],
      ['16', 6],
      ['many', 1],
    ] as const) {
      expect(lookUpSlots(threads), String(threads)).to.equal(slots);
    }
  });
});
