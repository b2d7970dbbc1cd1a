import { expect } from 'chai';
import { readSettings } from '../../core/config/config.ts';
import { apiConnections, workerConnections } from '../../core/config/database-connections.ts';

const sum = (parts: object) => Object.values(parts).reduce((total: number, part: number) => total + part, 0);

describe('the budget of PostgreSQL connections', () => {
  it('is spent to the last, and leaves each part what it needs', () => {
    for (let total = 8; total <= 500; total += 1) {
      const settings = { HOOKYARD_DATABASE_CONNECTIONS: total };
      const [api, worker] = [apiConnections(settings), workerConnections(settings)];
      expect(sum(api), `API, ${total}`).to.equal(total);
      // One more listens, and one holds slots of destinations.
      expect(sum(worker) + 2, `worker, ${total}`).to.equal(total);
      for (const part of Object.values(api)) expect(part).to.be.at.least(2);
      expect(worker.hot).to.be.at.least(3);
      expect(worker.commands).to.be.at.least(2);
      expect(worker.warehouses).to.be.at.least(1);
    }
  });

  it('is 36 for an API and 26 for a worker by default', () => {
    expect(apiConnections(readSettings({}))).to.deep.equal({ ingest: 16, management: 8, records: 8, service: 4 });
    expect(workerConnections(readSettings({}))).to.deep.equal({ hot: 16, commands: 4, warehouses: 4 });
  });

  it('cannot be less than works', () => {
    expect(() => readSettings({ HOOKYARD_DATABASE_CONNECTIONS: '7' })).to.throw('must be between 8 and 500');
  });
});
