import { expect } from 'chai';
import { isRefusal, RefusedRequests } from '../../api/http/request-log.ts';

interface Line {
  refused: number;
  causes: { status: number; code: string; count: number; requestId: string }[];
  organizations: Record<string, number>;
  sources: Record<string, number>;
}

function recorded() {
  const lines: Line[] = [];
  const log = { info: (line: unknown) => void lines.push(line as Line) };
  return { lines, refused: new RefusedRequests(log as ConstructorParameters<typeof RefusedRequests>[0]) };
}

const total = (counts: Record<string, number>) => Object.values(counts).reduce((sum, count) => sum + count, 0);

describe('refused requests', () => {
  it('make a line of bounded size, and none is left out of its numbers', () => {
    const { lines, refused } = recorded();
    const many = 10_000;
    for (let n = 0; n < many; n += 1) {
      const ids = { requestId: `req_${n}`, organizationId: `org_${n}`, sourceId: `src_${n}` };
      refused.note({ status: 400 + (n % 100), code: `CODE_${n}`, client: '192.0.2.1', ...ids });
    }
    refused.flush();
    const [line] = lines;
    expect(JSON.stringify(line).length).to.be.below(10_000);
    expect(line?.refused).to.equal(many);
    expect(line?.causes.reduce((sum, { count }) => sum + count, 0)).to.equal(many);
    expect(line?.causes.at(-1)).to.include({ code: 'others', status: 0 });
    expect(total(line?.organizations ?? {})).to.equal(many);
    expect(total(line?.sources ?? {})).to.equal(many);
  });

  it('are those whose number strangers or floods decide', () => {
    for (const status of [401, 403, 413, 429, 503, 508]) expect(isRefusal(status, true), `${status}`).to.equal(true);
    for (const status of [200, 204, 400, 404, 409, 422, 500])
      expect(isRefusal(status, true), `${status}`).to.equal(false);
    for (const status of [400, 404, 405, 431]) expect(isRefusal(status, false), `${status}`).to.equal(true);
    for (const status of [200, 302, 500]) expect(isRefusal(status, false), `${status}`).to.equal(false);
  });
});
