// An upgrade from the previous release: its schema gets the migrations of this version and is then the schema of a new
// installation, and this version's workflows replay its histories. Until that release is tagged, and in a clone without
// tags, it starts from the files here.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { applyMigrations, type Migration, migrations, SCHEMA } from '../../db/schema/migrate.ts';
import { newId } from '../../core/text/ids.ts';
import { createDatabase } from '../support/database/own-database.ts';
import { bundleWorkflows } from '../../worker/temporal/workflow-bundle.ts';
import { quietLogger } from '../support/servers/quiet-temporal.ts';
import { replayHistories } from '../support/workflows/replay-histories.ts';

const BEFORE = '0.1.0';
const project = join(import.meta.dirname, '..', '..');

describe(`an upgrade from ${BEFORE}`, () => {
  let files: ReleaseFiles;
  before(() => {
    files = filesOf(BEFORE);
  });
  after(() => files?.remove());

  it('brings its schema to that of a new installation, and edits no migration that it has', async () => {
    const then: Migration[] = [
      {
        name: SCHEMA,
        sql: files
          .texts('db/schema', '.sql')
          .map(({ text }) => text)
          .join('\n'),
      },
      ...files.texts('db/schema/migrations', '.sql').map(({ name, text }) => ({ name, sql: text })),
    ];
    expect(migrations.slice(1, then.length)).to.deep.equal(then.slice(1));
    const upgraded = await schemaOf(async (client) => {
      await applyMigrations(client, then);
      expect(await applyMigrations(client)).to.deep.equal(migrations.slice(then.length).map(({ name }) => name));
    });
    const made = await schemaOf(applyMigrations);
    expect(made).to.not.have.lengthOf(0);
    expect(upgraded).to.deep.equal(made);
  });

  it('replays its histories with the workflows of this version', async () => {
    const histories = files.texts('test/histories', '.json');
    expect(histories).to.not.have.lengthOf(0);
    const errors = await replayHistories(await bundleWorkflows(quietLogger), histories);
    expect(Object.fromEntries(errors)).to.deep.equal(
      Object.fromEntries(histories.map(({ name }) => [name, undefined])),
    );
  });
});

interface ReleaseFiles {
  /** Files of a folder with this ending, in the order of their names, which are without it. */
  texts(folder: string, ending: string): { name: string; text: string }[];
  remove(): void;
}

function filesOf(tag: string): ReleaseFiles {
  const root = checkout(tag);
  return {
    texts: (folder, ending) =>
      readdirSync(join(root ?? project, folder))
        .filter((file) => file.endsWith(ending))
        .toSorted()
        .map((file) => ({
          name: file.slice(0, -ending.length),
          text: readFileSync(join(root ?? project, folder, file), 'utf8'),
        })),
    remove: () => root !== null && rmSync(root, { recursive: true }),
  };
}

/** @returns null where the tag is not known */
function checkout(tag: string): string | null {
  try {
    execFileSync('git', ['rev-parse', '--verify', '--quiet', `refs/tags/${tag}`], { cwd: project, stdio: 'ignore' });
  } catch {
    return null;
  }
  const root = mkdtempSync(join(tmpdir(), 'hookyard-before-'));
  const archive = execFileSync('git', ['archive', tag, 'db', 'test/histories'], { cwd: project, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', root], { input: archive });
  return root;
}

/** What a database of its own has after `make`, a line for each column, constraint, index, function and trigger. */
async function schemaOf(make: (client: pg.Client) => Promise<unknown>): Promise<string[]> {
  const database = await createDatabase(`upgrade_${newId('req').slice(-10)}`);
  const client = new pg.Client({ connectionString: database.databaseUrl });
  try {
    await client.connect();
    await make(client);
    const { rows } = await client.query<{ line: string }>(SCHEMA_LINES);
    return rows.map(({ line }) => line);
  } finally {
    await client.end();
    await database.drop();
  }
}

const SCHEMA_LINES = `
with tables as (
  select oid, relname, reloptions from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
)
select concat_ws(' ', 'column', relname, attname, format_type(atttypid, atttypmod), attnotnull, attcollation::regcollation,
                 attidentity, pg_get_expr(adbin, adrelid)) as line
from tables t join pg_attribute a on attrelid = t.oid and attnum > 0 and not attisdropped
left join pg_attrdef d on adrelid = t.oid and adnum = attnum
union all select concat_ws(' ', 'table', relname, array(select unnest(reloptions) order by 1)) from tables
union all select concat_ws(' ', 'constraint', relname, conname, pg_get_constraintdef(c.oid)) from tables t join pg_constraint c on conrelid = t.oid
union all select indexdef from pg_indexes where schemaname = 'public'
union all select pg_get_triggerdef(g.oid) from tables t join pg_trigger g on tgrelid = t.oid and not tgisinternal
union all select pg_get_functiondef(p.oid) || coalesce(p.proacl::text, '') from pg_proc p
where pronamespace = 'public'::regnamespace and prokind = 'f' and not exists (select from pg_depend where objid = p.oid and deptype = 'e')
order by line`;
