// Sends requests to the API under test and reads its answers; each of them must be as the API's description says.
import { expect } from 'chai';
import { parseExact } from '../../core/text/exact-json.ts';
import { expectDescribed } from './providers/described.ts';

/** A JSON object as it came back. */
export type Json = Record<string, unknown>;

export interface Answer<Body = Json> {
  status: number;
  headers: Headers;
  /** The parsed JSON; an empty object when there was no body. */
  body: Body;
}

export interface RequestOptions {
  headers?: Record<string, string>;
  /** Sent as it is instead of a JSON body. */
  raw?: string | Uint8Array<ArrayBuffer>;
}

export interface ApiClient {
  url: string;
  request<Body = Json>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Answer<Body>>;
  /** GET that must answer 200; @returns the body */
  get<Body = Json>(path: string): Promise<Body>;
  /** GET of a list that must answer 200. */
  list<Item = Json>(
    path: string,
  ): Promise<{ data: Item[]; pagination: { total: number; page: number; pageSize: number } }>;
  /** POST that must answer 201; @returns the record */
  create<Body = Json>(path: string, body: unknown): Promise<Body & { id: string }>;
  /** POST that must answer 200; @returns the body */
  post<Body = Json>(path: string, body?: unknown): Promise<Body>;
  /** PATCH that must answer 200; @returns the record */
  patch<Body = Json>(path: string, body: unknown): Promise<Body>;
  /** DELETE that must answer 204 without a body. */
  delete(path: string): Promise<void>;
}

/** @param token an API key; null sends no credentials */
export function createClient(url: string, token: string | null): ApiClient {
  async function request<Body = Json>(
    method: string,
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<Answer<Body>> {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token !== null && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...options.headers,
      },
      body: options.raw ?? (body === undefined ? undefined : JSON.stringify(body)),
    });
    const text = await response.text();
    expectDescribed({
      method,
      path,
      sent: options.raw === undefined ? body : undefined,
      status: response.status,
      contentType: response.headers.get('content-type'),
      text,
    });
    return { status: response.status, headers: response.headers, body: (text === '' ? {} : parse(text)) as Body };
  }

  async function must<Body>(status: number, method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await request<Body>(method, path, body);
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).to.equal(status);
    return answer.body;
  }

  return {
    url,
    request,
    get: (path) => must(200, 'GET', path),
    list: (path) => must(200, 'GET', path),
    create: (path, body) => must(201, 'POST', path, body),
    post: (path, body) => must(200, 'POST', path, body),
    patch: (path, body) => must(200, 'PATCH', path, body),
    async delete(path) {
      expect(await must(204, 'DELETE', path)).to.deep.equal({});
    },
  };
}

function parse(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return { text };
  }
}

/** Checks an error answer: its status, its code (undefined: none), and the shape of the body (ERR-01). */
export function expectError(answer: Answer, status: number, code: string | undefined, message?: RegExp): void {
  expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
  expect(answer.body.error).to.be.a('string').that.is.not.empty;
  expect(answer.body.message).to.be.a('string').that.is.not.empty;
  expect(answer.body.code).to.equal(code);
  if (message) expect(answer.body.message).to.match(message);
}

/** Checks a 400 about one member: VALIDATION_ERROR, named first in the message and in the details. */
export function expectInvalid(answer: Answer, path: string, code = 'VALIDATION_ERROR'): void {
  expectError(answer, 400, code);
  expect(answer.body.message).to.satisfy(
    (message: string) => message.startsWith(`${path} `),
    String(answer.body.message),
  );
  expect(answer.body).to.have.nested.property('details[0].path', path);
}
