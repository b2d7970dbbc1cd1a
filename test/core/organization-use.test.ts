// What a process knows of the use of an organization, while PostgreSQL is asked and webhooks are being stored.
import { expect } from 'chai';
import { OrganizationUse } from '../../api/ingest/ingest-limits.ts';
import { limitsOf } from '../../core/fairness/organization-limits.ts';
import type { Use } from '../../db/organizations/usage.ts';

const LIMITS = { eventsPerMonth: 5, storedBytes: 500 };

function useOf(monthEvents: number, storedBytes = 0, today = '2026-11-21'): Use {
  const organization = { organizationId: 'org_1', plan: 'business' as const, limits: LIMITS, configVersion: 1 };
  return { ...organization, today, monthEvents, monthBytes: 0, storedBytes };
}

describe('the use of an organization', () => {
  let use: OrganizationUse;
  beforeEach(() => {
    use = new OrganizationUse('org_1', 1, limitsOf('business', LIMITS));
    use.know(useOf(1), use.ownBytes);
  });
  /** How many more may be stored. */
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
