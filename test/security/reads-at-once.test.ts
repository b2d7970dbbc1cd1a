// Reads of one organization take turns, so that webhooks of others do not wait behind all of them.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import type { ApiState, Caller, Context } from '../../api/context.ts';
import { renderErrors } from '../../api/errors.ts';
import { readsAtOnce } from '../../api/reads-at-once.ts';
import { createLog } from '../../core/log.ts';
import { readSettings } from '../../core/config.ts';
import { until } from '../support/until.ts';

const MOST_WAITING = 200;

describe('reads of one organization', () => {
  let server: Server;
  let url: string;
  /** Of the turns that have begun: ends the turn. */
  let turns: (() => void)[];
  let begun: string[];
  let arrived: number;
  beforeEach(async () => {
    [turns, begun, arrived] = [[], [], 0];
    const app = new Koa<ApiState>();
    app.use(renderErrors(createLog({ ...readSettings({}), LOG_LEVEL: 'silent' }, 'api')));
    app.use(async (ctx, next) => {
      arrived += 1;
      ctx.state.caller = { organization: { id: ctx.get('organization') } } as Caller;
      await next();
    });
    const turn = () => new Promise<void>((resolve) => turns.push(resolve));
    const reads = readsAtOnce(turn);
    app.use((ctx, next) => reads(ctx as unknown as Context, next));
    app.use((ctx) => {
      begun.push(ctx.path);
      ctx.body = {};
    });
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => server.close());

  const ask = (organization: string, path: string, method = 'GET') =>
    fetch(url + path, { method, headers: { organization } });

  it('take turns in order, refuse those beyond, and concern nobody else', async () => {
    const first = await ask('one', '/first');
    const waiting: Promise<Response>[] = [];
    for (let number = 1; number <= MOST_WAITING; number += 1) {
      waiting.push(ask('one', `/${number}`));
      if (number <= 3) await until('it to arrive', () => arrived === number + 1);
    }
    await until('all of them to arrive', () => arrived === MOST_WAITING + 1);
    const beyond = await ask('one', '/beyond');
    expect([beyond.status, beyond.headers.get('retry-after')]).to.deep.equal([503, '1']);
    expect((await ask('another', '/other')).status).to.equal(200);
    expect((await ask('one', '/change', 'PATCH')).status, 'a change').to.equal(200);
    expect([first.status, begun]).to.deep.equal([200, ['/first', '/other', '/change']]);
    for (let ended = 0; begun.length < MOST_WAITING + 3; ended += 1) {
      await until('the next turn', () => turns.length > ended);
      turns[ended]?.();
    }
    expect(begun.slice(3, 6)).to.deep.equal(['/1', '/2', '/3']);
    for (const answer of await Promise.all(waiting)) expect(answer.status).to.equal(200);
  });
});
