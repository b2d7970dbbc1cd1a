// Requests to the API of an earlier release. Its answers are that release's own, so nothing compares them with this one's description.

export interface Made {
  id: string;
}

export class Requests {
  readonly #url: string;
  readonly #token: string;
  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** @throws when the answer is not one of success */
  async send<Body>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Body> {
    const response = await fetch(this.#url + path, {
      method,
      headers: { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  get = <Body>(path: string) => this.send<Body>('GET', path);
  make = (path: string, body: unknown) => this.send<Made>('POST', path, body);
}
