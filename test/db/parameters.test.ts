// Whatever text a statement is given, PostgreSQL takes it and gives it back, with U+FFFD for what it cannot hold.
import { expect } from 'chai';
import fc from 'fast-check';
import { cleanText } from '../../core/text/error-summary.ts';
import { bisectRefused } from '../../db/sql/ranges.ts';
import { isRefusedValue } from '../../db/connections/database-errors.ts';
import { among, bytesParameter, fragment, jsonParameter, raw, toStatement } from '../../db/connections/statements.ts';
import { inTransaction } from '../../db/connections/pool.ts';
import { testPool } from '../support/service.ts';
import { late } from '../support/use-hookyard.ts';

// Text as it comes, and what has to be looked at: NUL, halves of pairs, escapes that are just text.
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\0', '\ud800', '\udc00', '😀', '\\', '\\u0000', '\\ud800'),
    ),
  )
  .map((parts) => parts.join(''));
const RUNS = { numRuns: 200 };

describe('parameters of statements', () => {
  const pool = late(testPool);

  it('of text are stored, by themselves and in arrays', () =>
    fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1 }), async (texts) => {
        const { rows } = await pool.query('select $1::text as one, $2::text[] as many', [texts[0], texts]);
        expect(rows).to.deep.equal([{ one: cleanText(texts[0] ?? ''), many: texts.map(cleanText) }]);
      }),
      RUNS,
    ));

  it('of bytes are stored as they are, in their order', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))),
        async (bytes) => {
          const text =
            'select array(select x from unnest($1::bytea[]) with ordinality as u(x, at) order by at) as bytes';
          const { rows } = await pool.query(text, [bytesParameter(bytes)]);
          expect(rows).to.deep.equal([{ bytes }]);
        },
      ),
      RUNS,
    ));

  it('of JSON are stored, names and values, and read as text', () =>
    fc.assert(
      fc.asyncProperty(text, text, async (name, value) => {
        const { rows } = await pool.query(
          'select $1::jsonb as whole, i.value from json_to_recordset($2::json) as i(value text)',
          [jsonParameter({ [name]: [value] }), jsonParameter([{ value }])],
        );
        expect(rows).to.deep.equal([{ whole: { [cleanText(name)]: [cleanText(value)] }, value: cleanText(value) }]);
      }),
      RUNS,
    ));

  it('of named statements, in transactions and on connections of their own are clean too', async () => {
    const statement = { name: 'clean-parameters', text: 'select $1::text as one', values: ['a\0b'] };
    const found = await inTransaction(pool, (db) => db.query(statement));
    const client = await pool.connect();
    const again = await client.query(statement).finally(() => client.release());
    for (const { rows } of [found, again]) expect(rows).to.deep.equal([{ one: 'a\ufffdb' }]);
    expect(statement.values).to.deep.equal(['a\0b']);
  });
});

describe('statements with their values in place', () => {
  it('send an array once', () => {
    const ids = ['b', 'a'];
    const statement = fragment`select ${'b'} where ${among('x', ids)} or ${among('y', ids)}`;
    expect(toStatement(statement)).to.deep.equal({
      text: 'select $1 where x = any($2::text[]) and x between $3 and $4 or y = any($2::text[]) and y between $5 and $6',
      values: ['b', ids, 'a', 'b', 'a', 'b'],
    });
  });

  it('have no numbers of parameters in their texts, which only numbered statements may share', () => {
    const numbered = fragment`select ${raw('$1::text')}`;
    expect(() => toStatement(fragment`${numbered} where ${true}`)).to.throw('must not contain numbered parameters');
    expect(`${numbered}`).to.equal('select $1::text');
    expect(() => `${fragment`select ${1}`}`).to.throw('cannot be used as text');
  });
});

describe('records of which PostgreSQL refuses one', () => {
  const given = ['1', '2', 'three', '4', '5', 'six', '7'];
  const store = (done: string[]) => async (some: string[]) => {
    await testPool().query('select n::int from unnest($1::text[]) as n', [some]);
    done.push(...some);
  };

  it('are done without it', async () => {
    const [done, refused]: [string[], string[]] = [[], []];
    await bisectRefused(given, store(done), async (one, error) => {
      expect(isRefusedValue(error)).to.equal(true);
      refused.push(one);
    });
    expect(done).to.deep.equal(['1', '2', '4', '5', '7']);
    expect(refused).to.deep.equal(['three', 'six']);
  });

  it('are not taken apart for an error of the statement itself', async () => {
    let tries = 0;
    const wrong = async () => {
      tries += 1;
      await testPool().query('select nothing from nowhere');
    };
    const failure = await bisectRefused(given, wrong, () => Promise.reject(new Error('never'))).catch(
      (error: unknown) => error,
    );
    expect(failure).to.have.property('code', '42P01');
    expect(tries).to.equal(1);
  });
});
