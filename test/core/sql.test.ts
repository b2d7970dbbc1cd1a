// All SQL is in db/, behind functions that are named for what they do.
import { expect } from 'chai';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SOURCE_FOLDERS } from '../support/programs/source-folders.ts';

const ROOT = join(import.meta.dirname, '..', '..');
// Those that may import db/.
const FOLDERS = ['activities', 'api', 'telemetry', 'temporal-config', 'worker'];
const STATEMENTS = [
  /\b(?:insert into|update \w+(?: \w+)? set|delete from|select\b[^'`;]*?\sfrom)\b/g,
  /\.(?:query|execute)(?:<|\((?!\)))/g,
  /from 'pg'/g,
];

// They set up the servers of `npm start`: roles and databases, and Temporal's own tables.
const SETS_UP_SERVERS = ['local/postgres/roles.ts', 'local/postgres/server.ts', 'local/temporal/schema.ts'];

// What only db/sql/rules.ts may spell out.
const RULES = {
  'open statuses': /'pending', 'retrying', 'circuit_open'/,
  'open replays': /'pending', 'running'/,
  'batches under way': /'frozen', 'uploading'/,
  'the status of what waits': /then 'pending' else 'retrying'/,
  'what a circuit blocks': /probe_delivery_id is distinct from/,
  'what a pause blocks': /paused_since is not null/,
  'the first enabled destination': /with ordinality as f\(id, position\)/,
  'columns of the outbox': /insert into outbox/,
  'the row of a delivery in the outbox': /o\.priority, o\.delivery_id|\.priority = \w+\.priority and/,
  'wake-ups': /pg_notify/,
  'where warehouses begin': /'dst_wh_'/,
};

describe('SQL', () => {
  it('spells out each shared rule once, in db/sql/rules.ts', () => {
    const files = globSync('db/**/*.ts', { cwd: ROOT }).filter((file) => file !== 'db/sql/rules.ts');
    const found = files.flatMap((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      return Object.entries(RULES).flatMap(([name, rule]) => (rule.test(text) ? [`${file}: ${name}`] : []));
    });
    expect(found).to.deep.equal([]);
  });

  it('is in db/ only', () => {
    const found: string[] = [];
    for (const file of globSync(
      FOLDERS.map((folder) => `${folder}/**/*.ts`),
      { cwd: ROOT },
    )) {
      const text = readFileSync(join(ROOT, file), 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
      for (const pattern of STATEMENTS) {
        for (const [match] of text.matchAll(pattern)) found.push(`${file}: ${match}`);
      }
    }
    expect(found).to.deep.equal([]);
  });

  it('is not in other folders, but where the servers of one machine are set up', () => {
    const others = SOURCE_FOLDERS.filter((folder) => folder !== 'db' && !FOLDERS.includes(folder));
    const found = globSync(
      others.map((folder) => `${folder}/**/*.ts`),
      { cwd: ROOT },
    ).filter((file) => /from 'pg'|\b(?:insert into|delete from)\b/i.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(found.toSorted()).to.deep.equal(SETS_UP_SERVERS);
  });
});
