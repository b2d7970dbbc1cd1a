// Clients that generators make of the API's description compile, and work: a webhook goes from its source to a receiver, is listed, and
// is replayed. Spectral finds nothing to say.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type Generator, GENERATORS, spectralFindings, storyOf } from '../support/programs/generators.ts';
import { COLD_START_MS } from '../support/programs/go-program.ts';
import { requirePython } from '../support/programs/python.ts';
import { createOrganization, sharedService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useReceiver } from '../support/use-hookyard.ts';

const run = promisify(execFile);

describe('Clients that generators make', function () {
  this.timeout(COLD_START_MS);
  const receiver = useReceiver();
  before(async () => {
    await sharedService('worker');
  });

  for (const name of GENERATORS) {
    it(`work: ${name}`, async function () {
      if (name === 'openapi-python-client') requirePython(this);
      await expectStory(name);
    });
  }

  it('are not warned of anything by Spectral', async () => {
    expect(await spectralFindings()).to.match(/^No results with a severity of 'hint' or higher found!\s*$/);
  });

  async function expectStory(name: Generator): Promise<void> {
    const { command, args, cwd } = await storyOf(name);
    const { api, token } = await createOrganization();
    const endpoint = receiver.endpoint();
    const env = { ...process.env, HOOKYARD_URL: api.url, HOOKYARD_API_KEY: token, RECEIVER: endpoint.url };
    const { stdout } = await run(command, args, { cwd, env, timeout: 60_000 });
    // One event, replayed to one destination: its second delivery is the newer one of two.
    expect(JSON.parse(stdout)).to.deep.equal([1, 1, 2, 'RESOURCE_NOT_FOUND']);
    await until('the replay arrives', () => endpoint.requests.length === 2);
    expect(JSON.parse(String(endpoint.requests[0]?.body))).to.deep.equal({ by: name });
  }
});
