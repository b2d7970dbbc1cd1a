import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import {
  PendingRefusals,
  shownHeaders,
  type Refusal,
  type RefusalOwner,
  type RefusedWebhook,
} from '../../core/ingest/refusals.ts';

const HOUR_MS = 3_600_000;
const NOW = 400_000 * HOUR_MS + 5;
const refusal: Refusal = { cause: 'signature', limit: null, status: 401, message: 'no' };
const ownerOf = (organizationId = newId('org')): RefusalOwner => ({ organizationId, sourceId: newId('src') });

function sample(owner: RefusalOwner): RefusedWebhook {
  const received = { method: 'POST', clientAddress: '192.0.2.1', headers: {}, payloadSize: 0, payloadStart: null };
  return { ...refusal, ...owner, ...received, id: newId('ref'), at: new Date(NOW) };
}

function flood(pending: PendingRefusals, owner: RefusalOwner, count: number, of: Refusal = refusal, at = NOW): void {
  for (let n = 0; n < count; n += 1) pending.add(owner, of, at, () => sample(owner));
}
const samplesOf = (pending: PendingRefusals, { sourceId }: RefusalOwner) =>
  pending.samples().filter((each) => each.sourceId === sourceId).length;

describe('Refused webhooks that wait to be stored', () => {
  it('are all counted, by hour, cause and limit, and few are kept', () => {
    const pending = new PendingRefusals();
    const owner = ownerOf();
    flood(pending, owner, 10_000);
    flood(pending, owner, 3, { ...refusal, cause: 'limit', limit: 'eventsPerSecond' });
    flood(pending, owner, 2, { ...refusal, cause: 'limit', limit: 'storedBytes' }, NOW + HOUR_MS);
    const hour = NOW - 5;
    expect(pending.counts()).to.deep.equal([
      { ...owner, cause: 'signature', limit: null, hour, count: 10_000, lastAt: NOW },
      { ...owner, cause: 'limit', limit: 'eventsPerSecond', hour, count: 3, lastAt: NOW },
      { ...owner, cause: 'limit', limit: 'storedBytes', hour: hour + HOUR_MS, count: 2, lastAt: NOW + HOUR_MS },
    ]);
    expect(pending.counted).to.equal(10_005);
    expect(pending.samples().length).to.be.within(1, 20);
    expect(pending.takeUncounted()).to.equal(0);
  });

  it('describe nothing for which there is no room', () => {
    const pending = new PendingRefusals();
    const owner = ownerOf();
    let described = 0;
    for (let n = 0; n < 1000; n += 1) {
      pending.add(owner, refusal, NOW, () => {
        described += 1;
        return sample(owner);
      });
    }
    expect(described).to.equal(pending.samples().length);
  });

  it('leave room to the samples of other sources and organizations', () => {
    const pending = new PendingRefusals();
    const attacked = Array.from({ length: 30 }, () => ownerOf('org_attacked'));
    for (const owner of attacked) flood(pending, owner, 100);
    const other = ownerOf('org_other');
    flood(pending, other, 1);
    expect(samplesOf(pending, other)).to.equal(1);
    for (let n = 0; n < 100; n += 1) flood(pending, ownerOf(), 100);
    expect(pending.samples().length).to.be.at.most(100);
  });

  it('have a bounded number of sources, and an organization cannot take all of it', () => {
    const pending = new PendingRefusals();
    for (let n = 0; n < 5000; n += 1) flood(pending, ownerOf('org_attacked'), 1);
    const sources = pending.counts().length;
    expect(sources).to.be.below(1000);
    expect(pending.takeUncounted()).to.equal(5000 - sources);
    const other = ownerOf('org_other');
    flood(pending, other, 7);
    expect(pending.counts().find(({ sourceId }) => sourceId === other.sourceId)?.count).to.equal(7);
    for (let n = 0; n < 5000; n += 1) flood(pending, ownerOf(), 1);
    expect(pending.counts().length).to.be.at.most(1000);
  });

  it('have a bounded number of hours, should they wait for days', () => {
    const pending = new PendingRefusals();
    const owner = ownerOf();
    for (let hour = 0; hour < 1000; hour += 1) flood(pending, owner, 1, refusal, NOW + hour * HOUR_MS);
    expect(pending.counts().length).to.be.below(100);
    expect(pending.counted + pending.takeUncounted()).to.equal(1000);
  });

  it('are added up when they could not be stored', () => {
    const [first, second] = [new PendingRefusals(), new PendingRefusals()];
    const [one, other] = [ownerOf(), ownerOf()];
    flood(first, one, 5);
    flood(second, one, 6, refusal, NOW + 1);
    flood(second, other, 7);
    const all = new PendingRefusals();
    all.absorb(first);
    all.absorb(second);
    expect(all.counts().map(({ count, lastAt }) => [count, lastAt])).to.deep.equal([
      [11, NOW + 1],
      [7, NOW],
    ]);
    expect(samplesOf(all, one)).to.equal(11);
    expect(first.counted, 'what was taken over is left as it was').to.equal(5);
    const some = new PendingRefusals();
    some.absorb(all, new Set([other.sourceId]));
    expect(some.counted).to.equal(7);
  });
});

describe('Headers of refused webhooks', () => {
  const nothing = { names: [], texts: [] };

  it('have their secrets masked, by the name, the header of the signature, and the token of the address', () => {
    const token = 'A'.repeat(32);
    const headers = (secret: string, inAddress: string) => ({
      ...{ 'content-type': 'application/json', authorization: secret, 'x-proof': secret },
      'x-original-uri': `/ingest/acme/orders/${inAddress}?a=${inAddress}`,
    });
    const shown = shownHeaders(headers('Bearer secret', token), { names: ['x-proof'], texts: [token] });
    expect(shown).to.deep.equal(headers('••••', '••••'));
  });

  it('are cut: long values, long names, and what is beyond 4 KiB or 64 headers', () => {
    const shown = shownHeaders({ first: 'x'.repeat(600), ['n'.repeat(300)]: 'x', last: 'y' }, nothing);
    expect(shown).to.deep.equal({ first: `${'x'.repeat(512)}…`, last: 'y' });
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`h${n}`, 'x']));
    expect(Object.keys(shownHeaders(many, nothing))).to.have.length(64);
    const large = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`h${n}`, 'x'.repeat(500)]));
    const text = Object.entries(shownHeaders(large, nothing)).flat().join('');
    expect(text.length).to.be.within(3000, 4096);
  });

  it('leave no part of a secret where a value is cut', () => {
    const token = 'B'.repeat(32);
    const shown = shownHeaders({ 'x-uri': 'a'.repeat(500) + token }, { names: [], texts: [token] });
    expect(shown['x-uri']).to.not.include('B');
  });
});
