// Thousands of requests that are wrong in every way we could think of: each is refused in the shape of an error, none is an
// unexpected failure, and none leaves anything behind in memory.
import { Agent, request as httpRequest } from 'node:http';
import { expect } from 'chai';
import pMap from 'p-map';
import { makePipeline } from '../support/api-records.ts';
import { heldBytes, INSPECTED } from '../support/attacks/heap.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { type Malformed, malformedRequests } from './malformed/requests.ts';
import { useService } from '../support/use-hookyard.ts';

const SEED = 20_261_121;
const ROUNDS = 6;
const PER_ROUND = 900;
const CONCURRENT = 12;
const MEBIBYTE = 1024 * 1024;
/** What may be held more after the last round than after the first two: caches fill, code is compiled. */
const GROWTH_BYTES = 12 * MEBIBYTE;

interface Refusal {
  status: number;
  body: unknown;
}

describe('Malformed requests', () => {
  const service = useService('api', INSPECTED);
  let organization: TestOrganization;
  let requests: Malformed[];
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENT });

  before(async () => {
    organization = await createOrganization({ service });
    const other = await createOrganization({ service });
    const { source, destination, route } = await makePipeline(other);
    const foreignIds = [source.id, destination.id, route.id, `evt_${'0'.repeat(26)}`, `dlv_${'0'.repeat(26)}`];
    requests = malformedRequests({ orgId: organization.id, foreignIds }, { seed: SEED, count: ROUNDS * PER_ROUND });
  });
  after(async () => {
    agent.destroy();
  });

  /** Sends a request with its path as it is. */
  function send({ method, path, headers, body }: Malformed): Promise<Refusal> {
    const { hostname, port } = new URL(service.url);
    const authorization = { authorization: `Bearer ${organization.token}` };
    return new Promise((resolve, reject) => {
      const sent = httpRequest(
        {
          agent,
          hostname,
          port,
          method,
          path,
          headers: { ...authorization, ...headers, ...(body && { 'content-length': body.length }) },
        },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part)).on('error', reject);
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body: parsed(Buffer.concat(parts)) }));
        },
      );
      sent.on('error', reject).end(body ?? undefined);
    });
  }

  const inTurn = <T>(items: T[], each: (item: T) => Promise<void>) => pMap(items, each, { concurrency: CONCURRENT });

  /** What is wrong with an answer, or null. */
  function problemOf({ method, path }: Pick<Malformed, 'method' | 'path'>, { status, body }: Refusal): string | null {
    // An import of invalid items reports them in its result.
    if (status === 200 && path.endsWith('/import') && hasProblems(body)) return null;
    if (status < 400 || status >= 500) return `answered ${status}`;
    return method === 'HEAD' ? null : shapeProblem(body);
  }

  it(`are refused, ${ROUNDS * PER_ROUND} of them, without holding on to memory`, async () => {
    const wrong: string[] = [];
    const held: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await inTurn(requests.slice(round * PER_ROUND, (round + 1) * PER_ROUND), async (request) => {
        const problem = await send(request).then(
          (answer) => problemOf(request, answer),
          (error: Error) => error.message,
        );
        if (problem !== null) wrong.push(describeRequest(request, problem));
      });
      held.push(await heldBytes(service));
    }
    expect(wrong.slice(0, 20), `${wrong.length} of ${requests.length}`).to.deep.equal([]);
    const [, second = 0] = held;
    expect((held.at(-1) ?? 0) - second, `held after each round: ${held.join(', ')}`).to.be.below(GROWTH_BYTES);
  });

  it('are no failures of the service: nothing is logged as an error', () => {
    const lines = service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg === 'request').length, 'the log is read').to.be.above(PER_ROUND);
    expect(lines.filter(({ level }) => level === 'error' || level === 'fatal')).to.deep.equal([]);
  });

  it('leave the service as it was', async () => {
    expect((await organization.api.request('GET', '/readyz')).status).to.equal(200);
    for (const path of ['/api/destinations', '/api/routes', '/api/filters', `${organization.base}/sources`]) {
      expect((await organization.api.list(path)).pagination.total, path).to.equal(0);
    }
  });
});

function describeRequest({ what, method, path, body }: Malformed, problem: string): string {
  return `${what}: ${method} ${path.slice(0, 120)} ${body?.subarray(0, 200).toString() ?? ''}: ${problem}`;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return bytes.toString();
  }
}

function shapeProblem(body: unknown): string | null {
  const { error, message, code } = (body ?? {}) as Record<string, unknown>;
  const isText = (value: unknown) => typeof value === 'string' && value !== '';
  return isText(error) && isText(message) && (code === undefined || isText(code))
    ? null
    : `body ${JSON.stringify(body)}`;
}

function hasProblems(body: unknown): boolean {
  const { errors } = (body ?? {}) as { errors?: unknown };
  return Array.isArray(errors) && errors.length > 0;
}
