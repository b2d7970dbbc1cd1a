import { expect } from 'chai';
import { readSettings } from '../../core/config.ts';
import { apiConnections, workerConnections } from '../../core/database-connections.ts';

const sum = (parts: object) => Object.values(parts).reduce((total: number, part: number) => total + part, 0);

describe('the budget of PostgreSQL connections', () => {
  it('is spent to the last, and leaves each part what it needs', () => {
    for (let total = 8; total <= 500; total += 1) {
      const settings = {
        HOOKYARD_DATABASE_POOL: 16,
        HOOKYARD_API_DATABASE_CONNECTIONS: total,
        HOOKYARD_WORKER_DATABASE_CONNECTIONS: total,
      };
      const [api, worker] = [apiConnections(settings), workerConnections(settings)];
      expect(sum(api), `API, ${total}`).to.equal(total);
      // One more listens, and one holds the lock.
      expect(sum(worker) + 2, `worker, ${total}`).to.equal(total);
      for (const part of Object.values(api)) expect(part).to.be.at.least(2);
      expect(worker.hot).to.be.at.least(3);
      expect(worker.commands).to.be.at.least(2);
      expect(worker.warehouses).to.be.at.least(1);
    }
  });

  it('is what the pools make of it by default', () => {
    expect(apiConnections(readSettings({}))).to.deep.equal({ ingest: 16, management: 8, records: 8, service: 4 });
    expect(workerConnections(readSettings({ HOOKYARD_DATABASE_POOL: '20' }))).to.deep.equal({
      hot: 20,
      commands: 4,
      warehouses: 4,
    });
  });

  it('cannot be less than works', () => {
    expect(() => readSettings({ HOOKYARD_WORKER_DATABASE_CONNECTIONS: '7' })).to.throw('must be between 8 and 500');
  });
});
