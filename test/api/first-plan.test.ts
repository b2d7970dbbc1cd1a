import { expect } from 'chai';
import { newToken } from '../../core/config/api-token.ts';
import { createClient } from '../support/api-client.ts';
import { commandLine } from '../support/programs/cli.ts';
import { logLines } from '../support/telemetry/log-lines.ts';
import { startService } from '../support/service.ts';
import { asServices } from '../support/stack.ts';
import { useDatabase } from '../support/use-hookyard.ts';

describe('HOOKYARD_PLAN', () => {
  const token = newToken();
  const { database } = useDatabase('plan');

  /** Starts an API with this plan. @returns the plan of the organization, and what the log says of the variable */
  async function startedWith(plan: string): Promise<{ plan: string; said: string[] }> {
    const env = { DATABASE_URL: asServices(database.databaseUrl), HOOKYARD_API_KEY: token, HOOKYARD_PLAN: plan };
    const api = await startService('api', env);
    const me = await createClient(api.url, token).get<{ organization: { plan: string } }>('/api/auth/me');
    await api.stop();
    const warnings = logLines(api).filter(({ level, msg }) => level === 'warn' && msg.startsWith('HOOKYARD_PLAN'));
    return { plan: me.organization.plan, said: warnings.map(({ msg }) => msg) };
  }

  it('is the plan of the first organization; another one later changes nothing, and the log names what does', async () => {
    expect(await startedWith('pro')).to.deep.equal({ plan: 'pro', said: [] });
    const { plan, said } = await startedWith('free');
    expect(plan).to.equal('pro');
    expect(said).to.deep.equal([
      'HOOKYARD_PLAN=free is ignored because the organization default already exists, on the pro plan; change the plan with hookyard orgs set-plan default free, or remove the variable',
    ]);
    const [, command = ''] = /with hookyard (.*),/.exec(said[0] ?? '') ?? [];
    const cli = commandLine({ api: createClient('http://127.0.0.1:1', ''), token: '' });
    const ran = await cli.run(command.split(' '), { env: { DATABASE_URL: database.databaseUrl } });
    expect(ran.code, ran.stderr).to.equal(0);
    expect(await startedWith('free')).to.deep.equal({ plan: 'free', said: [] });
  });
});
