import { Connection } from '@temporalio/client';
import { expect } from 'chai';
import pg from 'pg';
import { searchAttributeNames } from '../../core/temporal/names.ts';
import { ensureNamespace } from '../../temporal-config/namespace.ts';
import { restartPart, stackAddresses } from '../support/stack.ts';

describe('the embedded stack', () => {
  it('listens on loopback only', async () => {
    const rows = await query(`SELECT setting FROM pg_settings WHERE name = 'listen_addresses'`);
    expect(rows).to.deep.equal([{ setting: '127.0.0.1' }]);
  });

  it('has the namespace and its search attributes, also after Temporal restarts, and sets them up only once', async () => {
    await restartPart('temporal');
    const { temporalAddress, namespace } = stackAddresses();
    const connection = await Connection.connect({ address: temporalAddress });
    try {
      await ensureNamespace(connection, namespace);
      const described = await connection.workflowService.describeNamespace({ namespace });
      expect(described.config?.workflowExecutionRetentionTtl?.seconds?.toNumber()).to.equal(3 * 24 * 3600);
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      expect(Object.keys(customAttributes ?? {})).to.have.members(searchAttributeNames);
    } finally {
      await connection.close();
    }
  });

  it('maps the search attributes to the visibility columns whose indexes are kept', async () => {
    const { temporalAddress, namespace } = stackAddresses();
    const connection = await Connection.connect({ address: temporalAddress });
    try {
      const { config } = await connection.workflowService.describeNamespace({ namespace });
      const columns = Object.keys(config?.customSearchAttributeAliases ?? {}).sort();
      const kept = await query(
        `SELECT indexname FROM pg_indexes WHERE tablename = 'executions_visibility' AND indexname LIKE 'by\\_keyword\\_%' ORDER BY 1`,
        'temporal_visibility',
      );
      expect(columns.map((column) => ({ indexname: column.replace('Keyword', 'by_keyword_') }))).to.deep.equal(kept);
    } finally {
      await connection.close();
    }
  });
});

async function query(sql: string, database?: string): Promise<unknown[]> {
  const url = new URL(stackAddresses().databaseUrl);
  if (database) url.pathname = database;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
