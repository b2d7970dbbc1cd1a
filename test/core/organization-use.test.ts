import { expect } from 'chai';
import { OrganizationUse } from '../../api/ingest/ingest-limits.ts';
import { type Plan, PLANS } from '../../core/config/plans-and-scopes.ts';
import { LIMIT_NAMES, type LimitName, type LimitOverrides, limitsOf } from '../../core/fairness/organization-limits.ts';
import type { Use } from '../../db/organizations/usage.ts';

const LIMITS = { eventsPerMonth: 5, storedBytes: 500 };

function useOf(monthEvents: number, storedBytes = 0, today = '2026-11-21'): Use {
  const organization = { organizationId: 'org_1', plan: 'business' as const, limits: LIMITS, configVersion: 1 };
  return { ...organization, today, monthEvents, monthBytes: 0, storedBytes };
}

it('the limits of an organization are those that an operator has set, else those of its plan', () => {
  const limits: [plan: Plan, overrides: LimitOverrides, name: LimitName, limit: number][] = [
    ['free', {}, 'sources', 20],
    ['pro', {}, 'sources', 500],
    ['business', {}, 'eventsPerSecond', Number.POSITIVE_INFINITY],
    ['free', { sources: 3 }, 'sources', 3],
    ['free', { sources: 0 }, 'sources', 0],
    ['free', { sources: null }, 'sources', Number.POSITIVE_INFINITY],
    ['free', { sources: 3 }, 'filters', 50],
  ];
  for (const [plan, overrides, name, limit] of limits)
    expect(limitsOf(plan, overrides)[name], `${plan} ${JSON.stringify(overrides)}`).to.equal(limit);
  // No plan has less than a smaller one.
  for (const name of LIMIT_NAMES) {
    const [free, pro, business] = PLANS.map((plan) => limitsOf(plan, {})[name]) as [number, number, number];
    expect(free <= pro && pro <= business, name).to.equal(true);
  }
});

describe('the use of an organization', () => {
  let use: OrganizationUse;
  beforeEach(() => {
    use = new OrganizationUse('org_1', 1, limitsOf('business', LIMITS));
    use.know(useOf(1), use.ownBytes);
  });
  const room = (): number => {
    const slots = [];
    try {
      for (;;) slots.push(use.take(0));
    } catch {
      for (const slot of slots) slot(null);
    }
    return slots.length;
  };

  it('counts no webhook twice, whenever PostgreSQL has seen its commit', () => {
    const [first, second] = [use.take(10), use.take(10)];
    expect(room()).to.equal(2);
    const ownBytes = use.ownBytes;
    first('stored');
    // The second one is committed as well, and this process does not know yet.
    use.know(useOf(3, 20), ownBytes);
    second('stored');
    expect(room()).to.equal(2);
    // Asked before the commits.
    use.know(useOf(1), use.ownBytes);
    expect(room()).to.equal(2);
    use.know(useOf(3, 20), use.ownBytes);
    expect(room()).to.equal(2);
  });

  it('counts what others store, and what this process does not know it has stored', () => {
    use.take(0)('stored');
    use.know(useOf(4), use.ownBytes);
    expect(room()).to.equal(1);
    // The connection was lost, and the webhook was stored all the same.
    use.take(0)(null);
    use.know(useOf(5), use.ownBytes);
    expect(room()).to.equal(0);
  });

  it('begins anew with the month', () => {
    for (let count = 0; count < 4; count += 1) use.take(0)('stored');
    expect(room()).to.equal(0);
    use.know(useOf(0, 0, '2026-12-01'), use.ownBytes);
    expect(room()).to.equal(5);
    use.take(0)('stored');
    use.know(useOf(1, 0, '2026-12-01'), use.ownBytes);
    expect(room()).to.equal(4);
  });

  it('of bytes follows what is stored, also when some are deleted', () => {
    use.take(400)('stored');
    expect(() => use.take(200)).to.throw('storedBytes');
    use.know(useOf(2, 400), use.ownBytes);
    expect(() => use.take(200)).to.throw('storedBytes');
    use.know(useOf(2, 0), use.ownBytes);
    use.take(200)('stored');
  });
});
