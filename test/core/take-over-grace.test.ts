import { expect } from 'chai';
import { TakeOverGrace } from '../../core/take-over-grace.ts';

describe('what a relay may take from others whose lease has run out', () => {
  let now: number;
  let grace: TakeOverGrace;
  beforeEach(() => {
    now = 1_000_000;
    grace = new TakeOverGrace({ leaseMs: 6000, silenceMs: 700, now: () => now });
  });

  /** Time passes, in which it renews as usual. */
  function renewFor(ms: number): void {
    for (let passed = 0; passed < ms; passed += 100) {
      now += 100;
      grace.renewed();
    }
  }

  it('is nothing for a moment after its start, and for a lease only what is of processes that have ended', () => {
    expect(grace.allowed()).to.equal('none');
    renewFor(700);
    expect(grace.allowed()).to.equal('ended');
    renewFor(5300);
    expect(grace.allowed()).to.equal('expired');
  });

  it('is nothing for a lease after trouble, and for four more only what is of processes that have ended', () => {
    renewFor(6000);
    grace.cutOff();
    renewFor(5900);
    expect(grace.allowed()).to.equal('none');
    renewFor(100);
    expect(grace.allowed()).to.equal('ended');
    renewFor(23_900);
    expect(grace.allowed()).to.equal('ended');
    renewFor(100);
    expect(grace.allowed()).to.equal('expired');
  });

  it('is the same when its own renewal was late, because what held it up may have held up others', () => {
    renewFor(6000);
    now += 3000;
    expect(grace.allowed(), 'in time').to.equal('expired');
    now += 1;
    expect(grace.allowed(), 'before it has renewed').to.equal('none');
    grace.renewed();
    expect(grace.allowed()).to.equal('none');
    renewFor(6000);
    expect(grace.allowed()).to.equal('ended');
  });
});
