// Issues as the API shows them, and the waits for them.
import type { ApiClient, Json } from '../api-client.ts';
import { until } from '../until.ts';

export interface IssueView extends Json {
  id: string;
  state: string;
  cause: string;
  count: number;
  changedAt: string;
}

/** The issues of one organization. */
export class Issues {
  readonly #client: ApiClient;
  constructor(client: ApiClient) {
    this.#client = client;
  }

  async list(query: Record<string, string> = {}): Promise<IssueView[]> {
    const { data } = await this.#client.list<IssueView>(`/api/issues?${new URLSearchParams(query)}`);
    return data;
  }

  get(id: string): Promise<IssueView> {
    return this.#client.get(`/api/issues/${id}`);
  }

  set(id: string, state: string): Promise<IssueView> {
    return this.#client.patch(`/api/issues/${id}`, { state });
  }

  retry(
    id: string,
    body: { dryRun?: boolean } = {},
  ): Promise<{ deliveriesFound: number; deliveriesCreated: number; more: boolean }> {
    return this.#client.post(`/api/issues/${id}/retry`, body);
  }

  /** Waits for the only issue that these filters select, and that has counted so many. */
  untilOpen(query: Record<string, string>, count = 1): Promise<IssueView> {
    return until(`an issue of ${JSON.stringify(query)} with ${count}`, async () => {
      const found = await this.list({ state: 'open', ...query });
      const [issue, ...others] = found;
      if (issue === undefined || others.length > 0 || issue.count < count) throw new Error(JSON.stringify(found));
      return issue;
    });
  }

  untilCounted(id: string, count: number): Promise<IssueView> {
    return this.#untilIs(id, `count ${count}`, (issue) => issue.count >= count);
  }

  untilResolved(id: string): Promise<IssueView> {
    return this.#untilIs(id, 'be resolved', ({ state }) => state === 'resolved');
  }

  #untilIs(id: string, what: string, isSo: (issue: IssueView) => boolean): Promise<IssueView> {
    return until(`the issue to ${what}`, async () => {
      const issue = await this.get(id);
      if (!isSo(issue)) throw new Error(JSON.stringify(issue));
      return issue;
    });
  }
}
